public import Synchronization

/// A reference that is set at most once, which any number of threads can read without waiting.
///
/// It corresponds to `AtomicLazyReference`, whose `load` is not specialized by the compiler: a reader
/// of a key-value store spent a twentieth of its time in it.
///
/// `@unchecked Sendable`: the pointer is changed once, from nil to an object that is `Sendable` and
/// retained until `deinit`.
@safe @frozen @usableFromInline
package struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let pointer = unsafe Atomic<UnsafeRawPointer?>(nil)

  /// Creates a reference that is not set.
  @inlinable package init() {}

  deinit {
    guard let object = unsafe pointer.load(ordering: .acquiring) else { return }
    unsafe Unmanaged<Object>.fromOpaque(object).release()
  }

  /// Calls a closure with the object, which is not retained; returns nil if the reference is not set.
  @inlinable @inline(__always)
  package func withObject<Result>(_ body: (Object) -> Result) -> Result? {
    guard let object = unsafe pointer.load(ordering: .acquiring) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef(body)
  }

  /// Sets the reference, unless it is set; another thread may have been first.
  package func setIfNil(_ object: Object) {
    let new = unsafe Unmanaged.passRetained(object)
    let result = unsafe pointer.compareExchange(
      expected: nil, desired: UnsafeRawPointer(new.toOpaque()), ordering: .acquiringAndReleasing)
    if unsafe !result.exchanged { unsafe new.release() }
  }
}

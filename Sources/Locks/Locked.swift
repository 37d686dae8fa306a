#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A value that one thread at a time can use.
///
/// It is what `Mutex` is, made of the system's mutex: where a thread has to wait, Swift's goes to the
/// kernel by a way that the thread sanitizer can't see, which then reports races that are none.
///
/// A value without a size would share its address with the pointer, and be reported too.
///
/// `@unchecked Sendable`: the pointer is set once and freed in `deinit`; the value is `Sendable`, and
/// used between lock and unlock only.
@safe package final class Locked<Value: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// Used by whoever holds the mutex, so that no access can meet another.
  @safe @exclusivity(unchecked)
  @usableFromInline var value: Value

  /// Guards a value.
  package init(_ value: Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Runs a closure with the value; must not be nested.
  ///
  /// Give it a closure: a key path in generic code is built anew, for microseconds, at each use.
  @inlinable
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock()
    defer { unlock() }
    return try body(&value)
  }

  @usableFromInline func lock() { unsafe pthread_mutex_lock(mutex) }
  @usableFromInline func unlock() { unsafe pthread_mutex_unlock(mutex) }
}

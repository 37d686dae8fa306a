#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A value that one thread at a time can use.
///
/// It corresponds to `Mutex`, but uses the system's mutex. Where a thread has to wait, Swift's
/// mutex enters the kernel in a way that the thread sanitizer can't see, which then reports false
/// races.
///
/// A value without a size would share its address with the pointer, and be reported too.
///
/// `@unchecked Sendable`: the pointer is set once and freed in `deinit`; the value is `Sendable`,
/// and used only between lock and unlock.
@safe @usableFromInline package final class Locked<Value: Sendable>: @unchecked Sendable {
  private let system: UnsafeMutablePointer<SystemLock>
  /// Used only by the holder of the mutex, so accesses never overlap.
  @safe @exclusivity(unchecked)
  @usableFromInline var value: Value

  /// Creates a lock around a value.
  package init(_ value: Value) {
    self.value = value
    unsafe system = .allocate(capacity: 1)
    unsafe system.initialize(to: SystemLock())
    unsafe pthread_mutex_init(&system.pointee.mutex, nil)
    unsafe pthread_cond_init(&system.pointee.changed, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(&system.pointee.changed)
    unsafe pthread_mutex_destroy(&system.pointee.mutex)
    unsafe system.deallocate()
  }

  /// Runs a closure with the value; must not be nested.
  ///
  /// Pass a closure: a key path in generic code is built at each use, which takes microseconds.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body(&value)
  }

  /// Waits for a condition on the value, runs a closure with it, and wakes other waiting threads.
  ///
  /// The woken threads check their conditions again. Must not be nested.
  package func change<Result>(
    once isReady: (Value) -> Bool, _ body: (inout Value) -> Result
  ) -> Result {
    lock()
    while !isReady(value) {
      _ = unsafe pthread_cond_wait(&system.pointee.changed, &system.pointee.mutex)
    }
    let result = body(&value)
    unlock()
    // Threads woken while the lock is held would wait once more.
    _ = unsafe pthread_cond_broadcast(&system.pointee.changed)
    return result
  }

  /// Runs a closure with the value without waiting for a condition, and wakes waiting threads.
  package func change<Result>(_ body: (inout Value) -> Result) -> Result {
    change(once: { _ in true }, body)
  }

  /// Takes the lock until ``unlock()`` is called on the same thread.
  ///
  /// It is for critical sections that don't end where they begin; use ``withLock(_:)`` otherwise.
  @usableFromInline package func lock() { unsafe pthread_mutex_lock(&system.pointee.mutex) }
  /// Releases the lock that ``lock()`` has taken.
  @usableFromInline package func unlock() { unsafe pthread_mutex_unlock(&system.pointee.mutex) }
}

/// The system's lock, in memory with a fixed address.
@unsafe private struct SystemLock {
  var mutex = unsafe pthread_mutex_t()
  /// Signaled by `change(once:_:)`.
  var changed = pthread_cond_t()
}

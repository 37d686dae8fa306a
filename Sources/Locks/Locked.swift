#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A value that one thread at a time can use.
///
/// It is what `Mutex` is, made of the system's mutex: where a thread has to wait, Swift's goes to
/// the kernel by a way that the thread sanitizer can't see, which then reports races that are none.
///
/// A value without a size would share its address with the pointer, and be reported too.
///
/// `@unchecked Sendable`: the pointer is set once and freed in `deinit`; the value is `Sendable`,
/// and used between lock and unlock only.
@safe @usableFromInline package final class Locked<Value: Sendable>: @unchecked Sendable {
  private let system: UnsafeMutablePointer<SystemLock>
  /// Used by whoever holds the mutex, so that no access can meet another.
  @safe @exclusivity(unchecked)
  @usableFromInline var value: Value

  /// Guards a value.
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
  /// Give it a closure: a key path in generic code is built anew, for microseconds, at each use.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body(&value)
  }

  /// Runs a closure with the value once it meets a condition, and has those who wait for one look
  /// again; must not be nested.
  package func change<Result>(
    once isReady: (Value) -> Bool, _ body: (inout Value) -> Result
  ) -> Result {
    lock()
    while !isReady(value) {
      _ = unsafe pthread_cond_wait(&system.pointee.changed, &system.pointee.mutex)
    }
    let result = body(&value)
    unlock()
    // Those who are woken while the lock is held would wait once more.
    _ = unsafe pthread_cond_broadcast(&system.pointee.changed)
    return result
  }

  /// The same at once.
  package func change<Result>(_ body: (inout Value) -> Result) -> Result {
    change(once: { _ in true }, body)
  }

  /// Takes the lock, for as long as ``unlock()`` is not called, on the same thread.
  ///
  /// For what does not end where it has begun; everything else is for ``withLock(_:)``.
  @usableFromInline package func lock() { unsafe pthread_mutex_lock(&system.pointee.mutex) }
  /// Gives back what ``lock()`` has taken.
  @usableFromInline package func unlock() { unsafe pthread_mutex_unlock(&system.pointee.mutex) }
}

/// What the system has for a lock, in memory that stays where it is.
@unsafe private struct SystemLock {
  var mutex = unsafe pthread_mutex_t()
  /// Signalled by `change(once:_:)`.
  var changed = pthread_cond_t()
}

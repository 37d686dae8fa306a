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
/// It is no class, because the runtime would build the metadata of a class for each type of value at
/// its first use. That takes a twentieth of the time in which a program opens a store. Use ``SharedLock``
/// where several owners need the same lock.
///
/// `@unchecked Sendable`: the pointer is set once and freed in `deinit`; the value is `Sendable`,
/// and used only between lock and unlock.
@safe @frozen @usableFromInline
package struct Locked<Value: Sendable>: ~Copyable, @unchecked Sendable {
  /// The lock, and behind it the value, in memory with a fixed address.
  ///
  /// A structure of both would be a type for each type of value, whose metadata the runtime would
  /// build to destroy it.
  @usableFromInline let storage: UnsafeMutablePointer<SystemLock>

  /// Creates a lock around a value.
  @inlinable package init(_ value: Value) {
    let memory = unsafe UnsafeMutableRawPointer.allocate(
      byteCount: Self.valueOffset + MemoryLayout<Value>.size,
      alignment: max(MemoryLayout<SystemLock>.alignment, MemoryLayout<Value>.alignment))
    unsafe storage = unsafe memory.initializeMemory(as: SystemLock.self, to: SystemLock())
    unsafe SystemLock.begin(storage)
    unsafe (memory + Self.valueOffset).initializeMemory(as: Value.self, to: value)
  }

  @inlinable deinit {
    // A moved value is destroyed without the metadata of its type.
    _ = unsafe self.value.move()
    unsafe SystemLock.end(storage)
    unsafe UnsafeMutableRawPointer(storage).deallocate()
  }

  /// The distance of the value from the lock, in bytes.
  @inlinable static var valueOffset: Int {
    let alignment = MemoryLayout<Value>.alignment
    return unsafe (MemoryLayout<SystemLock>.size + alignment - 1) / alignment * alignment
  }

  @inlinable var value: UnsafeMutablePointer<Value> {
    unsafe (UnsafeMutableRawPointer(storage) + Self.valueOffset).assumingMemoryBound(
      to: Value.self)
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
    return try unsafe body(&value.pointee)
  }

  /// Waits for a condition on the value, runs a closure with it, and wakes other waiting threads.
  ///
  /// The woken threads check their conditions again. Must not be nested.
  @inlinable
  package func change<Result>(
    once isReady: (Value) -> Bool, _ body: (inout Value) -> Result
  ) -> Result {
    lock()
    while unsafe !isReady(value.pointee) { unsafe SystemLock.wait(storage) }
    let result = unsafe body(&value.pointee)
    unlock()
    // Threads woken while the lock is held would wait once more.
    unsafe SystemLock.wakeAll(storage)
    return result
  }

  /// Waits for a condition on the value, for a limited time, and runs a closure with it.
  ///
  /// The time is longer or shorter if the system's clock is set meanwhile. Must not be nested.
  ///
  /// - Returns: The result of the closure; nil if the time has passed.
  package func change<Result>(
    once isReady: (Value) -> Bool, within limit: Duration, _ body: (inout Value) -> Result
  ) -> Result? {
    let deadline = unsafe SystemLock.deadline(after: limit)
    lock()
    while unsafe !isReady(value.pointee) && SystemLock.wait(storage, until: deadline) {}
    let isMet = unsafe isReady(value.pointee)
    let result = isMet ? unsafe body(&value.pointee) : nil
    unlock()
    unsafe SystemLock.wakeAll(storage)
    return result
  }

  /// Runs a closure with the value without waiting for a condition, and wakes waiting threads.
  @inlinable
  package func change<Result>(_ body: (inout Value) -> Result) -> Result {
    change(once: { _ in true }, body)
  }

  /// Takes the lock until ``unlock()`` is called on the same thread.
  ///
  /// It is for critical sections that don't end where they begin; use ``withLock(_:)`` otherwise.
  @inlinable package func lock() { unsafe SystemLock.lock(storage) }
  /// Releases the lock that ``lock()`` has taken.
  @inlinable package func unlock() { unsafe SystemLock.unlock(storage) }
}

/// A ``Locked`` value with several owners.
package final class SharedLock<Value: Sendable>: Sendable {
  private let value: Locked<Value>

  /// Creates a lock around a value.
  package init(_ value: Value) { self.value = Locked(value) }

  /// Runs a closure with the value; must not be nested.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try value.withLock(body)
  }

  /// Waits for a condition on the value, runs a closure with it, and wakes other waiting threads.
  package func change<Result>(
    once isReady: (Value) -> Bool = { _ in true }, _ body: (inout Value) -> Result
  ) -> Result {
    value.change(once: isReady, body)
  }
}

/// The system's lock, whose address must not change.
@unsafe @usableFromInline package struct SystemLock {
  private var mutex = unsafe pthread_mutex_t()
  /// Signaled by ``wakeAll(_:)``.
  private var changed = pthread_cond_t()

  @usableFromInline init() {}

  @usableFromInline static func begin(_ lock: UnsafeMutablePointer<SystemLock>) {
    unsafe pthread_mutex_init(&lock.pointee.mutex, nil)
    unsafe pthread_cond_init(&lock.pointee.changed, nil)
  }

  @usableFromInline static func end(_ lock: UnsafeMutablePointer<SystemLock>) {
    unsafe pthread_cond_destroy(&lock.pointee.changed)
    unsafe pthread_mutex_destroy(&lock.pointee.mutex)
  }

  @usableFromInline static func lock(_ lock: UnsafeMutablePointer<SystemLock>) {
    unsafe pthread_mutex_lock(&lock.pointee.mutex)
  }

  @usableFromInline static func unlock(_ lock: UnsafeMutablePointer<SystemLock>) {
    unsafe pthread_mutex_unlock(&lock.pointee.mutex)
  }

  @usableFromInline static func wait(_ lock: UnsafeMutablePointer<SystemLock>) {
    _ = unsafe pthread_cond_wait(&lock.pointee.changed, &lock.pointee.mutex)
  }

  /// Waits until the lock is signaled; returns false once the deadline has passed.
  fileprivate static func wait(
    _ lock: UnsafeMutablePointer<SystemLock>, until deadline: timespec
  ) -> Bool {
    var deadline = deadline
    return unsafe pthread_cond_timedwait(&lock.pointee.changed, &lock.pointee.mutex, &deadline) == 0
  }

  /// Returns a time of the system's clock.
  fileprivate static func deadline(after duration: Duration) -> timespec {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    let (seconds, fraction) = duration.components
    time.tv_sec += Int(seconds)
    time.tv_nsec += Int(fraction / 1_000_000_000)
    time.tv_sec += time.tv_nsec / 1_000_000_000
    time.tv_nsec %= 1_000_000_000
    return time
  }

  @usableFromInline static func wakeAll(_ lock: UnsafeMutablePointer<SystemLock>) {
    _ = unsafe pthread_cond_broadcast(&lock.pointee.changed)
  }
}

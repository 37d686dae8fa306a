#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A lock that many readers or one writer can hold.
///
/// Waiting writers go before new readers.
///
/// `@unchecked Sendable`: the pointer is set once and freed in `deinit`; what it points to is made
/// for use by several threads.
@safe package final class ReadWriteLock: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>

  /// Makes a lock that nobody holds.
  package init() {
    unsafe lock = .allocate(capacity: 1)
    var attributes = pthread_rwlockattr_t()
    unsafe pthread_rwlockattr_init(&attributes)
    #if canImport(Glibc)
      // Without this, readers in turn could keep a commit waiting for ever.
      unsafe pthread_rwlockattr_setkind_np(
        &attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    #endif
    unsafe pthread_rwlock_init(lock, &attributes)
    unsafe pthread_rwlockattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_rwlock_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Runs a closure beside other readers.
  package func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
    unsafe pthread_rwlock_rdlock(lock)
    defer { unlock() }
    return try body()
  }

  /// Waits until nobody else holds the lock, and takes it.
  package func lockForWriting() { unsafe pthread_rwlock_wrlock(lock) }

  /// Ends ``lockForWriting()``.
  package func unlock() { unsafe pthread_rwlock_unlock(lock) }
}

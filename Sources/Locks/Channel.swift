#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A short queue from one thread to another.
///
/// `@unchecked Sendable`: the pointers are set once and freed in `deinit`; the rest is used between
/// lock and unlock only.
@safe package final class Channel<Value: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// Signalled at every change.
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  private var values: [Value] = []
  private var isClosed = false

  /// Makes a queue of at most `capacity` values.
  package init(capacity: Int) {
    self.capacity = capacity
    unsafe mutex = .allocate(capacity: 1)
    unsafe changed = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(changed, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe pthread_mutex_destroy(mutex)
    unsafe changed.deallocate()
    unsafe mutex.deallocate()
  }

  /// Appends a value, waiting for room; false once the queue is closed.
  package func put(_ value: Value) -> Bool {
    locked {
      while values.count >= capacity, !isClosed { wait() }
      if !isClosed { values.append(value) }
      return !isClosed
    }
  }

  /// Takes the first value, waiting for it; nil when there is none and the queue is closed.
  package func take() -> Value? {
    locked {
      while values.isEmpty, !isClosed { wait() }
      return values.isEmpty ? nil : values.removeFirst()
    }
  }

  /// Takes no more values, and lets nobody wait any longer.
  package func close() { locked { isClosed = true } }

  private func locked<Result>(_ body: () -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(changed)
      unsafe pthread_mutex_unlock(mutex)
    }
    return body()
  }

  private func wait() { _ = unsafe pthread_cond_wait(changed, mutex) }
}

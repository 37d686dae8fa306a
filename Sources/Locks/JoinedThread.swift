import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A thread that runs one closure.
///
/// Releasing this object waits for the thread's end, unless the thread itself releases it, or it
/// was detached.
///
/// A forked child process does not have the thread, so there is nothing to wait for.
///
/// `@unchecked Sendable`: the identifier of the thread is set once and used only in `deinit`.
@safe package final class JoinedThread: @unchecked Sendable {
  private let thread: pthread_t
  private let process = getpid()
  private let isDetached = Atomic(false)

  /// Starts a thread; nil if the system has none left.
  ///
  /// Without a stack size the system's default is used. The closure must not retain this object,
  /// and must end once nothing else does.
  package init?(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body))
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    if let stackSize { unsafe pthread_attr_setstacksize(&attributes, stackSize) }
    let number = unsafe pthread_create(
      &thread, &attributes, { unsafe runWork($0) }, work.toOpaque())
    let started: pthread_t? = number == 0 ? thread : nil
    guard let started else {
      unsafe work.release()
      return nil
    }
    self.thread = started
  }

  /// Detaches the thread: releasing this object does not wait for it.
  package func detach() { isDetached.store(true, ordering: .relaxed) }

  /// Whether the thread belongs to this process, which was not forked since it began.
  package var isHere: Bool { getpid() == process }

  deinit {
    if !isHere { return }
    // The thread can't wait for itself if it releases its own object.
    if isDetached.load(ordering: .relaxed) || pthread_equal(thread, pthread_self()) != 0 {
      _ = pthread_detach(thread)
    } else {
      _ = pthread_join(thread, nil)
    }
  }

  fileprivate final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

private func runWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let work = unsafe work else { return nil }
  unsafe Unmanaged<JoinedThread.Work>.fromOpaque(work).takeRetainedValue().body()
  return nil
}

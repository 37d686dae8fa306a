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
/// Releasing this object waits for the thread's end, unless the thread itself releases it, or it was
/// detached.
///
/// In a child process that was forked there is no such thread, and nothing to wait for.
///
/// `@unchecked Sendable`: the identifier of the thread is set once and used in `deinit` only.
@safe package final class JoinedThread: @unchecked Sendable {
  private let thread: pthread_t
  private let process = getpid()
  private let isDetached = Atomic(false)

  /// Starts a thread with a stack of so many bytes, nil for the system's default; nil when the
  /// system has no thread left.
  ///
  /// The closure must not hold this object, and must come to its end once nobody else does.
  package init?(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    if let stackSize { unsafe pthread_attr_setstacksize(&attributes, stackSize) }
    let number = unsafe pthread_create(
      &thread, &attributes, { unsafe runWork($0) }, work.toOpaque())
    guard number == 0 else {
      unsafe work.release()
      return nil
    }
    self.thread = thread
  }

  /// Lets the thread end by itself: nobody waits for it.
  package func detach() { isDetached.store(true, ordering: .relaxed) }

  /// Whether this process has the thread, and was not forked since it began.
  package var isHere: Bool { getpid() == process }

  deinit {
    if !isHere { return }
    // What the thread itself lets go of it can't wait for.
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

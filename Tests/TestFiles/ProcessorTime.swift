import Foundation

/// Measures how long the processor works for this thread in a closure, however busy other programs
/// keep it.
public func processorTime<Failure: Error>(
  _ body: () throws(Failure) -> Void
) throws(Failure) -> Duration {
  let start = threadTime()
  try body()
  return threadTime() - start
}

/// The kernel updates `/proc/thread-self/schedstat` a few hundred times a second only, which is too
/// seldom for short closures.
private func threadTime() -> Duration {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

import Foundation

/// How long the processor works for this thread in a closure, however busy other programs keep it.
///
/// Linux counts it in `/proc/thread-self/schedstat`, as the first number, in nanoseconds. Where
/// that isn't counted, it is the time by the clock.
func processorTime(_ body: () throws -> Void) throws -> Duration {
  let start = threadNanoseconds()
  let elapsed = try ContinuousClock().measure(body)
  guard let start, let end = threadNanoseconds() else { return elapsed }
  return .nanoseconds(end - start)
}

private func threadNanoseconds() -> Int? {
  let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8)
  return text?.split(separator: " ").first.flatMap { Int($0) }
}

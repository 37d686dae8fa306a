/// The times of single operations of a run, in milliseconds.
package struct Latencies: Decodable, Sendable {
  package let p50: Double
  package let p99: Double
  package let p999: Double
  package let longest: Double

  /// The JSON of a program's answer.
  var json: String {
    "{\"p50\": \(p50), \"p99\": \(p99), \"p999\": \(p999), \"longest\": \(longest)}"
  }
}

/// A recorder of the times of operations.
struct LatencyRecorder {
  private var times: [Double] = []

  /// Runs an operation, and records its time.
  mutating func measure(_ operation: () throws -> Void) rethrows {
    let time = try ContinuousClock().measure(operation)
    times.append(time / .milliseconds(1))
  }

  /// The latencies of all operations; nil if there was none.
  var latencies: Latencies? {
    if times.isEmpty { return nil }
    let sorted = times.sorted()
    // Returns the minimum time that so many of a thousand operations did not exceed.
    func bound(_ share: Int) -> Double { sorted[(sorted.count * share + 999) / 1000 - 1] }
    return Latencies(p50: bound(500), p99: bound(990), p999: bound(999), longest: bound(1000))
  }
}

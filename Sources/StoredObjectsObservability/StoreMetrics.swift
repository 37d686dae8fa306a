import CoreMetrics
import Locks
import StoreEngine

/// The metrics of all stores of an instrument.
final class StoreMetrics: Sendable {
  private struct Key: Hashable {
    let kind: StoreOperation.Kind
    let location: String
    let hasFailed: Bool
  }

  /// The metrics of one kind of operation in one store.
  private struct OfOperation: Sendable {
    let time: Timer
    let size: Recorder?

    init(_ key: Key) {
      let dimensions = [
        ("store", key.location), ("outcome", key.hasFailed ? "failure" : "success"),
      ]
      let label = "stored_objects_\(key.kind.rawValue)"
      time = Timer(
        label: "\(label)_duration", dimensions: dimensions, preferredDisplayUnit: .seconds)
      // The size of a save is reported with its commit.
      size = key.kind == .save ? nil : Recorder(label: "\(label)_bytes", dimensions: dimensions)
    }
  }

  private let operations = Locked<[Key: OfOperation]>([:])
  private let hits = Counter(label: "stored_objects_lookups", dimensions: [("result", "hit")])
  private let misses = Counter(label: "stored_objects_lookups", dimensions: [("result", "miss")])

  func record(_ operation: StoreOperation) {
    let key = Key(
      kind: operation.kind, location: operation.location, hasFailed: operation.error != nil)
    let metrics = operations.withLock { known in
      if let metrics = known[key] { return metrics }
      let new = OfOperation(key)
      known[key] = new
      return new
    }
    metrics.time.recordNanoseconds(operation.duration.nanoseconds)
    metrics.size?.record(operation.byteCount)
  }

  func record(_ lookUps: StoreLookUps) {
    if lookUps.hits > 0 { hits.increment(by: lookUps.hits) }
    if lookUps.misses > 0 { misses.increment(by: lookUps.misses) }
  }
}

extension Duration {
  /// The whole nanoseconds, or `Int64.max` if there are more.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product + attoseconds / 1_000_000_000
  }
}

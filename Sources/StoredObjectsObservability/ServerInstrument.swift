public import StoreEngine

/// An instrument that reports the operations of stores to swift-metrics and distributed tracing.
///
///     let backend = try TokyoCabinetBackend(directory: "Music")
///     backend.instrument = ServerInstrument()
///
/// swift-distributed-tracing gets the operations as spans. Bootstrap `MetricsSystem` and
/// `InstrumentationSystem` first, as in every service. For the names of the metrics and spans, see
/// <doc:StoredObjectsObservability>.
public struct ServerInstrument: StoreInstrument {
  private let metrics: StoreMetrics?
  private let reportsSpans: Bool

  /// Creates an instrument.
  ///
  /// - Parameters:
  ///   - reportsMetrics: Whether it reports metrics.
  ///   - reportsSpans: Whether it reports a span for each operation, as a child of the current one.
  public init(reportsMetrics: Bool = true, reportsSpans: Bool = true) {
    metrics = reportsMetrics ? StoreMetrics() : nil
    self.reportsSpans = reportsSpans
  }

  /// Reports an operation.
  public func didEnd(_ operation: StoreOperation) {
    metrics?.record(operation)
    if reportsSpans { recordSpan(of: operation) }
  }

  /// Reports look-ups, as metrics only.
  public func didLookUp(_ lookUps: StoreLookUps) { metrics?.record(lookUps) }
}

public import StoreEngine

/// Reports what stores do to swift-metrics, and to swift-distributed-tracing as spans.
///
///     let backend = try TokyoCabinetBackend(directory: "Music")
///     backend.instrument = ServerInstrument()
///
/// Bootstrap `MetricsSystem` and `InstrumentationSystem` before, as each service does. For the names
/// of the metrics and spans, see <doc:StoredObjectsObservability>.
public struct ServerInstrument: StoreInstrument {
  private let metrics: StoreMetrics?
  private let reportsSpans: Bool

  /// Makes an instrument.
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

  /// Reports look-ups, which are no part of traces.
  public func didLookUp(_ lookUps: StoreLookUps) { metrics?.record(lookUps) }
}

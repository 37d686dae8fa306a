import StoreEngine
import Tracing

/// Reports a finished operation as a span, a child of the current span on this thread.
func recordSpan(of operation: StoreOperation) {
  let clocks = ClockReading.precise()
  let span = InstrumentationSystem.tracer.startSpan(
    "StoredObjects.\(operation.kind.rawValue)", ofKind: .client,
    at: clocks.timestamp(of: operation.start))
  span.attributes["db.system"] = "stored-objects"
  span.attributes["db.name"] = operation.location
  if operation.kind != .save { span.attributes["stored_objects.bytes"] = operation.byteCount }
  if let error = operation.error {
    span.recordError(error)
    span.setStatus(SpanStatus(code: .error, message: "\(error.code)"))
  }
  span.end(at: clocks.timestamp(of: operation.start + operation.duration))
}

/// The time by the clock of operations and by the clock of spans, at one moment.
private struct ClockReading {
  private let instant: ContinuousClock.Instant
  private let timestamp: DefaultTracerClock.Timestamp
  /// How far the two readings can be apart.
  private let uncertainty: Duration

  private init() {
    instant = ContinuousClock.now
    timestamp = DefaultTracerClock.now
    uncertainty = ContinuousClock.now - instant
  }

  /// Returns the first reading that wasn't interrupted, or the best of ten.
  static func precise() -> ClockReading {
    var best = ClockReading()
    for _ in 1..<10 where best.uncertainty > .microseconds(1) {
      let next = ClockReading()
      if next.uncertainty < best.uncertainty { best = next }
    }
    return best
  }

  func timestamp(of other: ContinuousClock.Instant) -> DefaultTracerClock.Timestamp {
    let nanoseconds =
      Int64(timestamp.nanosecondsSinceEpoch) + Int64((other - instant).nanoseconds)
    return DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: UInt64(max(0, nanoseconds)))
  }
}

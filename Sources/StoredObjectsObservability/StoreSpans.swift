import StoreEngine
import Tracing

/// Reports a finished operation as a span, a child of the current span on this thread.
func recordSpan(of operation: StoreOperation) {
  let end = DefaultTracerClock.now
  let length = UInt64(max(0, operation.duration.nanoseconds))
  let start = DefaultTracerClock.Timestamp(
    nanosecondsSinceEpoch: end.nanosecondsSinceEpoch - min(length, end.nanosecondsSinceEpoch))
  let span = InstrumentationSystem.tracer.startSpan(
    "StoredObjects.\(operation.kind.rawValue)", ofKind: .client, at: start)
  span.attributes["db.system"] = "stored-objects"
  span.attributes["db.name"] = operation.location
  if operation.kind != .save { span.attributes["stored_objects.bytes"] = operation.byteCount }
  if let error = operation.error {
    span.recordError(error)
    span.setStatus(SpanStatus(code: .error, message: "\(error.code)"))
  }
  span.end(at: end)
}

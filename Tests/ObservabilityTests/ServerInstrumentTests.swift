import CoreMetrics
import Glibc
import InMemoryTracing
import KeyValueStoreCore
import MetricsTestKit
import StoredObjectsCore
import StoredObjectsObservability
import TestFiles
import Testing
import TokyoCabinetBackend
import Tracing

private final class Note: StoredObject {
  @Content var text = ""
  @Content var next: Note?

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(next)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    next = try buffer.readObject(of: Note.self)
  }
}

/// The metrics and traces of the process, which can be set once.
private enum Reports {
  static let metrics = TestMetrics()
  static let tracer = InMemoryTracer()
  static let areSet: Bool = {
    MetricsSystem.bootstrap(metrics)
    InstrumentationSystem.bootstrap(tracer)
    return true
  }()
}

/// Reports saves late, as a thread does that has been interrupted.
private struct LateInstrument: StoreInstrument {
  func didEnd(_ operation: StoreOperation) {
    if operation.kind == .save { usleep(20_000) }
    ServerInstrument().didEnd(operation)
  }

  func didLookUp(_ lookUps: StoreLookUps) {}
}

@Suite("Metrics and traces of stores", .serialized)
struct ServerInstrumentTests {
  private let directory: String

  init() throws {
    directory = try makeTemporaryDirectory()
    try #require(Reports.areSet)
    Reports.metrics.reset()
    Reports.tracer.clearAll()
  }

  private func open(_ directory: String) throws -> (TokyoCabinetBackend, Store) {
    let backend = try TokyoCabinetBackend(directory: directory)
    backend.instrument = ServerInstrument()
    let store = Store(backend: backend)
    try store.register(Note.self)
    return (backend, store)
  }

  private func dimensions(
    _ backend: TokyoCabinetBackend, _ outcome: String = "success"
  ) -> [(String, String)] { [("store", backend.location), ("outcome", outcome)] }

  @Test("The durations and sizes of saves, commits and folds are measured")
  func operations() throws {
    let (backend, store) = try open(directory)
    for number in 0..<3 {
      let note = Note()
      note.text = "Note \(number)"
      store.insert(note)
      try store.saveChanges()
    }
    let metrics = Reports.metrics
    let saves = try metrics.expectTimer("stored_objects_save_duration", dimensions(backend))
    let commits = try metrics.expectTimer("stored_objects_commit_duration", dimensions(backend))
    #expect(saves.values.count == 3 && commits.values.count == 3)
    for (save, commit) in zip(saves.values, commits.values) {
      #expect(save >= commit && commit > 0)
    }
    let sizes = try metrics.expectRecorder("stored_objects_commit_bytes", dimensions(backend))
    #expect(sizes.values.allSatisfy { (10..<1000).contains($0) })
    #expect(metrics.timers(label: "stored_objects_fold_duration").isEmpty)
    try backend.checkpoint()
    let folds = try metrics.expectTimer("stored_objects_fold_duration", dimensions(backend))
    #expect(folds.values.count == 1)
    try backend.close()
  }

  @Test("A failed save is reported with its error")
  func failure() throws {
    let (backend, store) = try open(directory)
    store.insert(Note())
    try backend.close()
    #expect(throws: StoreError.self) { try store.saveChanges() }
    let saves = try Reports.metrics.expectTimer(
      "stored_objects_save_duration", dimensions(backend, "failure"))
    #expect(saves.values.count == 1)
    let span = try #require(Reports.tracer.finishedSpans.last)
    #expect(span.operationName == "StoredObjects.save" && span.status?.message == "closed")
    #expect((span.errors.first?.error as? StoreError)?.code == .closed)
  }

  @Test("Look-ups are counted, in memory or not")
  func lookUps() throws {
    do {
      let (backend, store) = try open(directory)
      let (first, second) = (Note(), Note())
      first.next = second
      for note in [first, second] { store.insert(note) }
      try store.saveChanges()
      try backend.close()
    }
    Reports.metrics.reset()
    let (backend, store) = try open(directory)
    let first = try #require(try store.object(Note.self, rowID: 2))
    #expect(first.next?.text == "")
    for _ in 0..<5 { #expect(try store.object(Note.self, rowID: 3) === first.next) }
    store.mergeChanges()
    let metrics = Reports.metrics
    #expect(
      metrics.counterTotal(label: "stored_objects_lookups", dimensions: [("result", "miss")]) == 2)
    #expect(
      metrics.counterTotal(label: "stored_objects_lookups", dimensions: [("result", "hit")]) == 5)
    try backend.close()
  }

  @Test("A span begins and ends with its operation, as a child of the current span")
  func spans() throws {
    let (backend, store) = try open(directory)
    backend.instrument = LateInstrument()
    try withSpan("request") { _ in
      store.insert(Note())
      try store.saveChanges()
    }
    let spans = Reports.tracer.finishedSpans
    let request = try #require(spans.first { $0.operationName == "request" })
    let save = try #require(spans.first { $0.operationName == "StoredObjects.save" })
    let commit = try #require(spans.first { $0.operationName == "StoredObjects.commit" })
    #expect(save.parentSpanID == request.spanID && commit.parentSpanID == request.spanID)
    #expect(save.startInstant.nanosecondsSinceEpoch <= commit.startInstant.nanosecondsSinceEpoch)
    #expect(commit.startInstant.nanosecondsSinceEpoch < commit.endInstant.nanosecondsSinceEpoch)
    #expect(commit.endInstant.nanosecondsSinceEpoch <= save.endInstant.nanosecondsSinceEpoch)
    #expect(save.endInstant.nanosecondsSinceEpoch <= request.endInstant.nanosecondsSinceEpoch)
    #expect(save.attributes.get("db.name") == .string(backend.location))
    try backend.close()
  }

  @Test("Tables of values report their commits, too, and nothing is reported after the end")
  func values() throws {
    let backend = try TokyoCabinetBackend(directory: directory)
    backend.instrument = ServerInstrument(reportsSpans: false)
    let values = try KeyValueStore(backend: backend)
    let settings = try values.createTable("Settings")
    try settings.put("dark", for: "theme")
    let label = "stored_objects_commit_duration"
    let count = try Reports.metrics.expectTimer(label, dimensions(backend)).values.count
    #expect(count > 0 && Reports.tracer.finishedSpans.isEmpty)
    backend.instrument = nil
    try settings.put("light", for: "theme")
    #expect(try Reports.metrics.expectTimer(label, dimensions(backend)).values.count == count)
    try values.close()
  }
}

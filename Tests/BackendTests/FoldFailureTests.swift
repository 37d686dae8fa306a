import CDBBackend
import Foundation
import Locks
import Logging
import StoredObjectsTestSupport
import Synchronization
import TestedBackends
import Testing
import TokyoCabinetBackend

@testable import StoreEngine
@testable import StoredObjectsCore

private final class Note: StoredObject {
  @Content var text = ""
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
}

/// Keeps what it hears.
private final class Listener: StoreDelegate {
  var failures: [FoldFailure] = []
  func store(_ store: Store, didFailToFold failure: FoldFailure) { failures.append(failure) }
}

/// Keeps the warnings of a program.
private struct Warnings: LogHandler {
  final class Messages: Sendable {
    let all = Mutex<[String]>([])
  }

  let messages: Messages
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    if event.level >= .warning { messages.all.withLock { $0.append("\(event.message)") } }
  }
}

@Suite("Logs that can't be folded")
struct FoldFailureTests {
  /// A directory where the first new file would be made is in the way of every checkpoint.
  private func obstruct(_ directory: String) throws {
    try FileManager.default.createDirectory(
      atPath: directory + "/.new.0/in the way", withIntermediateDirectories: true)
  }

  private func clear(_ directory: String) throws {
    try FileManager.default.removeItem(atPath: directory + "/.new.0")
  }

  private func limits(maximum: Int? = nil) -> CheckpointLimits {
    var limits = CheckpointLimits(
      logBytes: 4000, filePart: 1000, bulkBytes: 20_000, maximumLogBytes: maximum)
    limits.foldPause = .zero
    return limits
  }

  private func withBackends(
    maximum: Int? = nil,
    _ body: (_ directory: String, _ open: () throws -> any StoreBackend) throws -> Void
  ) throws {
    let limits = limits(maximum: maximum)
    for kind in [TestedBackend.tokyoCabinet, .cdb] {
      try TokyoFixtures.withDirectory { directory in
        try body(directory) { try kind.open(directory, limits: limits) }
      }
    }
  }

  @Test("A property, the delegate and the program's log report each attempt once")
  func told() throws {
    try withBackends { directory, open in
      let messages = Warnings.Messages()
      let backend = try open()
      let store = Store(
        backend: backend,
        configuration: .init(logger: Logger(label: "test") { _ in Warnings(messages: messages) }))
      try store.register(Note.self)
      let listener = Listener()
      store.delegate = listener
      let note = Note()
      store.insert(note)
      try store.saveChanges()
      try obstruct(directory)
      for number in 0..<60 {
        note.text = String(repeating: "\(number % 10)", count: 500)
        try store.saveChanges()
      }
      let failure = try #require(backend.foldFailure)
      #expect(failure.tryCount > 2 && failure.logByteCount > 4000)
      #expect(listener.failures.map(\.tryCount) == Array(1...failure.tryCount))
      #expect(messages.all.withLock(\.count) == failure.tryCount)
      try clear(directory)
      for number in 0..<20 {
        note.text = String(repeating: "\(number % 10)", count: 500)
        try store.saveChanges()
      }
      #expect(backend.foldFailure == nil)
      #expect(listener.failures.count == failure.tryCount)
      try backend.close()
      let again = try open()
      #expect(try again.recordCount(in: again.table(named: "Note")) == 2)
      try again.close()
    }
  }

  @Test("A missing file is reported, too, and other saves continue")
  func fileGone() throws {
    try withBackends { directory, open in
      let first = try open()
      try first.commit { $0.set("name", [1]) }
      try first.close()
      let backend = try open()
      let table = try backend.table(named: "A")
      for name in try FileManager.default.contentsOfDirectory(atPath: directory)
      where name.hasPrefix("NamedBuffers") {
        try FileManager.default.removeItem(atPath: directory + "/" + name)
      }
      for number in UInt32(0)..<60 {
        let bytes = [UInt8](repeating: 7, count: 500)
        try backend.commit { $0.set("other", bytes) }
        try backend.commit { $0.insert(2 + number, in: table, bytes) }
      }
      #expect(backend.foldFailure?.error.code == .damaged)
      #expect(try backend.recordCount(in: table) == 60)
      try? backend.close()
    }
  }

  @Test("At the limit, saves are refused with the reason, until the log can be folded")
  func limit() throws {
    try withBackends(maximum: 16_000) { directory, open in
      let backend = try open()
      let table = try backend.table(named: "A")
      try backend.commit { $0.insert(2, in: table, [0]) }
      try obstruct(directory)
      var (saved, refusal) = (0, StoreError?.none)
      for number in 1...100 where refusal == nil {
        do {
          try backend.commit {
            $0.update(2, in: table, [UInt8(number)] + [UInt8](repeating: 7, count: 500))
          }
          saved = number
        } catch {
          refusal = error as? StoreError
        }
      }
      #expect(saved > 20)
      #expect(refusal?.code == .noSpace)
      #expect(refusal?.message.contains("maximumLogBytes") == true)
      #expect(refusal?.underlying is StoreError)
      #expect(try backend.record(2, in: table)?.first == UInt8(saved))
      try clear(directory)
      try backend.commit { $0.update(2, in: table, [100]) }
      try #require(backend as? any DirectoryBackend).checkpoint()
      #expect(backend.foldFailure == nil)
      try backend.close()
      let again = try open()
      #expect(try again.records(in: again.table(named: "A")) == [2: [100]])
      try again.close()
    }
  }

  @Test("A large save then goes to the log")
  func bulk() throws {
    try withBackends { directory, open in
      let backend = try open()
      let table = try backend.table(named: "A")
      try obstruct(directory)
      try backend.commit { $0.insert(2, in: table, [1]) }
      let large = [UInt8](repeating: 9, count: 30_000)
      try backend.commit { $0.insert(3, in: table, large) }
      #expect(try backend.record(3, in: table) == large)
      #expect(backend.foldFailure != nil)
      try backend.close()
      try clear(directory)
      let again = try open()
      #expect(try again.records(in: again.table(named: "A")) == [2: [1], 3: large])
      try again.close()
    }
  }

  @Test("Memory has only the last version of repeatedly saved rows")
  func memory() throws {
    try TokyoFixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(
        files: TokyoCabinetFiles(directory: directory), durability: .process, limits: limits())
      let table = try backend.table(named: "A")
      try backend.commit { $0.insert(2, in: table, [0]) }
      try obstruct(directory)
      for number in 0..<2000 {
        try backend.commit {
          $0.update(2, in: table, [UInt8](repeating: UInt8(number % 250), count: 15_000))
        }
      }
      let held = backend.state.withLock { $0.pending.heldByteCount }
      #expect(held <= 30_000)
      try backend.close()
    }
  }

  @Test("A save of a record too large for any class file is refused")
  func largeRecord() throws {
    try TokyoFixtures.withBackend { backend, table in
      let record = [UInt8](repeating: 0, count: 512 << 20)
      let changes = ChangeSet(
        bytes: record,
        tables: [
          .init(
            table: table, records: [.init(kind: .insert, rowID: 2, range: 0..<record.count)])
        ])
      let error = TokyoFixtures.error { try backend.commit(changes) }
      #expect(error?.code == .tooLarge)
      #expect(error?.location.className == "Song" && error?.location.rowID == 2)
      let count = try backend.recordCount(in: table)
      #expect(count == 0)
    }
  }
}

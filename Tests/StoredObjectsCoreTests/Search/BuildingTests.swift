import Locks
import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

/// A class that counts how often its text is taken for the index.
private final class Line: StoredObject {
  static let count = Locked(0)
  @Content var text = ""

  override class var fullTextAttributes: [FullTextAttribute] {
    [
      FullTextAttribute("text") { (line: Line) in
        count.withLock { $0 += 1 }
        return line.text
      }
    ]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
}

/// The same records before there was an index.
private final class PlainLine: StoredObject {
  @Content var text = ""

  override class var storedName: String { Line.storedName }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
}

@Suite("Building full-text indexes", .serialized)
struct BuildingTests {
  /// A backend with lines that are in no index, some of which have been saved again, in an order of
  /// their own.
  private func makeBackend(_ count: Int) throws -> FailingBackend {
    let backend = FailingBackend(try MemoryBackend())
    let store = Store(backend: backend)
    try store.register(PlainLine.self)
    var lines: [PlainLine] = []
    for number in 0..<count {
      let line = PlainLine()
      store.insert(line)
      line.text = "line \(number) of \(number % 7)"
      lines.append(line)
    }
    try store.saveChanges()
    for line in lines where line.rowID % 5 == 0 { store.delete(line) }
    try store.saveChanges()
    return backend
  }

  private func open(_ backend: FailingBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Line.self)
    store.classes[0].fullText?.batchRows = 50
    return store
  }

  @Test("Finished parts are not built again after a stop", arguments: [0, 1, 4, 7])
  func goingOn(_ commits: Int) throws {
    let backend = try makeBackend(500)
    backend.failCommits(after: commits)
    Line.count.withLock { $0 = 0 }
    let first = try open(backend)
    #expect(throws: StoreError.self) { try first.buildFullTextIndexes() }
    let readOnce = Line.count.withLock { $0 }
    #expect(readOnce == (commits + 1) * 50)

    Line.count.withLock { $0 = 0 }
    let second = try open(backend)
    var progress: [IntegrityProgress] = []
    try second.buildFullTextIndexes { progress.append($0) }
    #expect(Line.count.withLock { $0 } == 400 - commits * 50)
    #expect(progress.last.map { $0.completed == 400 && $0.total == 400 } == true)
    #expect(try second.check().findings == [])
    #expect(try second.searchCount(Line.self, .word("line")) == 400)
    #expect(try second.searchCount(Line.self, .word("498")) == 0)
    #expect(try second.searchCount(Line.self, .word("497")) == 1)
  }

  @Test("Finished parts are built again after a stop if another program has saved since")
  func strangerBetween() throws {
    let backend = try makeBackend(300)
    backend.failCommits(after: 3)
    #expect(throws: StoreError.self) { try open(backend).buildFullTextIndexes() }
    let stranger = Store(backend: backend)
    try stranger.register(PlainLine.self)
    for line in try stranger.allObjects(of: PlainLine.self) { line.text = "strange " + line.text }
    try stranger.saveChanges()
    let store = try open(backend)
    #expect(try store.searchCount(Line.self, .prefix("stran")) == 240)
    #expect(try store.searchCount(Line.self, .beginning("line")) == 0)
    #expect(try store.check().findings == [])
  }

  @Test("An index of another version of Unicode is built again")
  func otherUnicode() throws {
    let backend = try makeBackend(20)
    let store = try open(backend)
    try store.buildFullTextIndexes()
    let text = try #require(store.classes[0].fullText)
    let stamp = String(decoding: text.stamp, as: UTF8.self)
    let version = ScalarFolding.unicodeVersion
    #expect(stamp.hasPrefix("1 \(version) "))
    #expect(try text.isUsable(store.classes[0], backend))
    var changes = ChangeSet()
    let old = stamp.replacingFirst(" \(version) ", with: " 14.0 ")
    changes.set(PostingFormat.stampKey, to: Array(old.utf8), in: text.table)
    try backend.commit(changes)
    #expect(try !text.isUsable(store.classes[0], backend))
    #expect(try store.searchCount(Line.self, .word("line")) == 16)
    #expect(try text.isUsable(store.classes[0], backend))
  }
}

extension String {
  fileprivate func replacingFirst(_ part: String, with other: String) -> String {
    guard let range = firstRange(of: part) else { return self }
    return replacingCharacters(in: range, with: other)
  }

  private func firstRange(of part: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(part) }
      .map { $0..<index($0, offsetBy: part.count) }
  }

  private func replacingCharacters(in range: Range<Index>, with other: String) -> String {
    String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
  }
}

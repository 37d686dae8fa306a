import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TokyoCabinet

/// A word, with references to other words.
final class Word: StoredObject {
  @Content var text = ""
  @Content var next: [Word] = []

  override class var indexes: [AttributeIndex] { [AttributeIndex("text", \Word.text)] }

  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("text", \Word.text)]
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    next = try buffer.readObjects(of: Word.self)
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(next)
  }
}

/// A page with words.
final class Page: StoredObject {
  @Content var number: UInt32 = 0
  @Content var words: [Word] = []

  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readUInt32()
    words = try buffer.readObjects(of: Word.self)
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(words)
  }
}

/// A store whose files are so small that every byte of them can be tested.
struct SmallStore {
  /// Few buckets: the files of a new store have half a megabyte of them.
  private static let tuning = Tuning(bucketCount: 5, alignmentPower: 2, freeBlockPower: 3)

  /// An ordered table that is no index.
  private static let keys = OrderedTableName("Keys", kind: .data)

  let directory: String
  let backend: BackendName

  func open(
    isReadOnly: Bool, sharing: StoreSharing = .exclusive, logBytes: Int = 4 << 20,
    foldsAtClose: Bool = true
  ) throws -> any CrashedBackend {
    var limits = CheckpointLimits(logBytes: logBytes, filePart: 1000, bulkBytes: 3000)
    limits.logGrowth = 8 << 10
    limits.foldsAtClose = foldsAtClose
    limits.segments = .small
    // For concurrent savers, a fold of the small store should last as long as that of a large one.
    if sharing == .processes { limits.besideBytes = 0 }
    return try backend.open(directory, isReadOnly: isReadOnly, sharing: sharing, limits: limits)
  }

  /// Creates class files without records, which keep their few buckets, if the format has buckets.
  func makeFiles(_ names: [String]) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    guard backend == .tokyoCabinet else { return }
    for name in names {
      try HashDatabase(path: "\(directory)/\(name)", tuning: Self.tuning).close()
    }
  }

  /// The state in which a small store is left.
  enum State: String, CaseIterable {
    /// Closed, with everything in the class files.
    case folded
    /// Closed, with a part of it in the log only.
    case unfolded
    /// Left by a killed process, with a part in the log only.
    case killed
  }

  /// Creates a store of two classes, one of them with indexes, named buffers and an ordered table.
  func make(_ state: State) throws {
    try makeFiles(["Word", "Page", "NamedBuffers"])
    let backend = try open(isReadOnly: false, foldsAtClose: state == .folded)
    let store = try Self.register(backend)
    var words: [Word] = []
    for text in ["a", "bee", "cedar", "to be removed", "dove"] { words.append(store.new(text)) }
    words[0].next = [words[1], words[2], words[1]]
    let page = Page()
    store.insert(page)
    (page.number, page.words) = (7, [words[2], words[0]])
    try store.setBuffer(named: "First") { $0.write("a") }
    try store.saveChanges()
    let keys = try backend.orderedTable(Self.keys)
    try backend.commit { changes in
      for key in ["ant", "bat"] { changes.set(Array(key.utf8), to: [1], in: keys) }
    }
    try backend.checkpoint()
    store.delete(words[3])
    try store.saveChanges()
    try backend.checkpoint()
    words.append(store.new("eel"))
    words[1].text = "beetle"
    page.words = [words[1], words[4]]
    try store.saveChanges()
    try store.setBuffer(named: "Second") { $0.write(UInt32(9)) }
    store.insert(Page())
    try store.saveChanges()
    try backend.commit { changes in
      changes.set(Array("cat".utf8), to: [3], in: keys)
      changes.set(Array("ant".utf8), to: nil, in: keys)
    }
    if state != .killed { return try backend.close() }
    let killed = directory + ".killed"
    try FileManager.default.copyItem(atPath: directory, toPath: killed)
    try backend.close()
    try FileManager.default.removeItem(atPath: directory)
    try FileManager.default.moveItem(atPath: killed, toPath: directory)
  }

  private static func register(_ backend: any CrashedBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Word.self)
    try store.register(Page.self)
    return store
  }

  /// Returns everything that the store contains, as its classes read it.
  ///
  /// If opened for writing, it must contain the same after another save and a checkpoint.
  func contents(isReadOnly: Bool) throws -> (lines: [String], tornTailByteCount: Int?) {
    let backend = try open(isReadOnly: isReadOnly)
    defer { try? backend.close() }
    let store = try Self.register(backend)
    let lines = try Self.lines(store)
    if isReadOnly { return (lines, backend.tornTailByteCount) }
    let word = store.new("one that was free")
    try store.saveChanges()
    try backend.checkpoint()
    let again = try Self.lines(try Self.register(backend))
      .filter { !$0.hasPrefix("word \(word.rowID) ") }
    guard again == lines else { throw HarnessError("after a checkpoint: \(again)") }
    return (lines, backend.tornTailByteCount)
  }

  private static func lines(_ store: Store) throws -> [String] {
    var lines: [String] = []
    for word in try store.allObjects(of: Word.self) {
      try word.fetchContent()
      let next = word.next.map { "\($0.rowID)" }
      lines.append("word \(word.rowID) \(word.text) \(next)")
    }
    for page in try store.allObjects(of: Page.self) {
      try page.fetchContent()
      lines.append("page \(page.rowID) \(page.number) \(page.words.map(\.rowID))")
      for word in page.words { try word.fetchContent() }
    }
    for name in try store.bufferNames().sorted() {
      lines.append("\(name) \(try store.buffer(named: name)?.bytes ?? [])")
    }
    return try lines + keys(store.backend) + found(store)
  }

  private static func keys(_ backend: any StoreBackend) throws -> [String] {
    var lines: [String] = []
    let table = try backend.orderedTable(Self.keys)
    _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) { key, value in
      lines.append("key \(bytes(of: key)) \(bytes(of: value))")
      return .next
    }
    return lines
  }

  private static func bytes(of span: RawSpan) -> [UInt8] {
    unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Returns the results of the indexes, which are rebuilt if they can't be read.
  private static func found(_ store: Store) throws -> [String] {
    var lines: [String] = []
    for word in try store.fetch(Word.self, sortedBy: [.ascending(\.text)]) {
      let same = try store.fetch(Word.self, where: \.text, is: word.text).map(\.rowID)
      let rows = try store.search(Word.self, .exact(word.text)).map(\.object.rowID)
      lines.append("word \(word.rowID) found \(same) \(rows)")
    }
    return lines
  }
}

extension Store {
  fileprivate func new(_ text: String) -> Word {
    let word = Word()
    insert(word)
    word.text = text
    return word
  }
}

import Files
import Locks
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

/// A file in memory.
final class MemorySink: OrderedFileSink {
  private(set) var bytes: [UInt8] = []
  func write(_ bytes: [UInt8]) { self.bytes += bytes }
  func finish(isSynced: Bool) {}

  /// The file of some keys.
  static func file(
    _ entries: [OrderedEntry], codec: (any OrderedPageCodec)? = nil
  ) throws -> [UInt8] {
    let sink = MemorySink()
    var writer = OrderedFileWriter(sink, codec: codec)
    for entry in entries {
      try entry.key.lend { key in try entry.value.lend { try writer.append(key, $0) } }
    }
    try writer.finish(isSynced: false)
    return sink.bytes
  }
}

/// A codec that changes the size of pages.
struct Mask: OrderedPageCodec {
  func seal(_ page: [UInt8], at offset: Int) -> [UInt8] {
    page.map { $0 ^ 0xA5 } + [UInt8(offset & 255), 1, 2]
  }
  func open(_ stored: RawSpan, at offset: Int) throws(StoreError) -> [UInt8] {
    let bytes = [UInt8](copying: stored)
    guard bytes.suffix(3) == [UInt8(offset & 255), 1, 2] else {
      throw StoreError(.damaged, "Not sealed here.")
    }
    return bytes.dropLast(3).map { $0 ^ 0xA5 }
  }
}

extension [UInt8] {
  /// Appends a page to the file of an ordered table, and returns its place.
  mutating func append(page: [UInt8]) -> (offset: Int, size: Int) {
    let (offset, size) = (count, page.count + OrderedFileFormat.pageHeadSize)
    append(littleEndian: UInt32(size))
    append(littleEndian: OrderedFileFormat.checksum(page.span, at: offset))
    self += page
    return (offset, size)
  }
}

extension OrderedFile {
  convenience init(bytes: [UInt8], codec: (any OrderedPageCodec)? = nil) throws {
    try self.init(MappedFile(copying: bytes), codec: codec)
  }

  /// All keys of a range, and their values.
  func entries(_ range: KeyRange = KeyRange(), isReversed: Bool = false) throws -> [OrderedEntry] {
    var entries: [OrderedEntry] = []
    _ = try scan(range, isReversed: isReversed) { key, value in
      entries.append(OrderedEntry(key: [UInt8](copying: key), value: [UInt8](copying: value)))
      return .next
    }
    return entries
  }
}

@Suite("Files of ordered tables")
struct OrderedFileTests {
  /// Keys in order: numbers behind words, now and then a long one.
  private func entries(_ count: Int, _ generator: inout SeededGenerator) -> [OrderedEntry] {
    var keys: Set<[UInt8]> = []
    for number in 0..<count {
      let word = ["A", "Song ", "Songs of the sea, volume ", ""].randomElement(using: &generator)
      var key =
        Array((word ?? "").utf8) + [
          UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255),
        ]
      if Int.random(in: 0..<500, using: &generator) == 0 {
        key += Array(repeating: 7, count: 9_000)
      }
      keys.insert(key)
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
      let count = Int.random(in: 0..<9, using: &generator)
      return OrderedEntry(key: key, value: Array(key.prefix(count)))
    }
  }

  @Test(
    "Written keys are found, in ranges, by keys and by counting",
    arguments: [0, 1, 2, 300, 30_000])
  func roundTrip(count: Int) throws {
    var generator = Seeds.generator(for: "ordered files")
    let all = entries(count, &generator)
    let file = try OrderedFile(bytes: try MemorySink.file(all))
    #expect(file.count == count)
    #expect(try file.entries() == all)
    #expect(try file.entries(isReversed: true) == all.reversed())
    try file.check()
    for _ in 0..<60 {
      let indices = [0, 1].map { _ in Int.random(in: 0...count, using: &generator) }.sorted()
      var range = KeyRange()
      if indices[0] < count { range.from = all[indices[0]].key }
      if indices[1] < count { range.to = all[indices[1]].key }
      let part = all[(indices[0] < count ? indices[0] : 0)..<indices[1]]
      guard indices[1] - indices[0] < 3_000 else { continue }
      #expect(try file.entries(range) == Array(part))
      #expect(try file.entries(range, isReversed: true) == part.reversed())
      guard indices[0] < count else { continue }
      let entry = all[indices[0]]
      #expect(try entry.key.lend { try file.rank(of: $0) } == indices[0])
      #expect(try (entry.key + [0]).lend { try file.rank(of: $0) } == indices[0] + 1)
      #expect(try entry.key.lend { try file.withValue($0) { [UInt8](copying: $0) } } == entry.value)
      #expect(try (entry.key + [0]).lend { try file.withValue($0) { _ in true } } == nil)
    }
  }

  @Test("The example of the format page is written")
  func example() throws {
    let file = try MemorySink.file([
      OrderedEntry(key: Array("Song 1".utf8), value: [7]),
      OrderedEntry(key: Array("Song 2".utf8), value: []),
    ])
    let digits = Array("0123456789abcdef")
    let hex = file.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    #expect(hex == OrderedFileTests.exampleHex)
  }

  static let exampleHex =
    "534f4b65797300011e0000004ff1f464020000000500000000000300536f6e67200131070132534f4b6579456e64"
    + "010000000100000008000000000000001e0000000000000002000000000000006600000000000000000000000000"
    + "0000000000002e8df573"

  @Test("A changed byte is an error or has no effect, and never gives a wrong answer")
  func spoiltBytes() throws {
    var generator = Seeds.generator(for: "spoilt ordered files")
    let all = entries(700, &generator)
    let bytes = try MemorySink.file(all)
    for offset in stride(from: 0, to: bytes.count, by: 41) {
      var spoilt = bytes
      spoilt[offset] ^= UInt8.random(in: 1...255, using: &generator)
      #expect(throws: StoreError.self, "byte \(offset)") {
        let file = try OrderedFile(bytes: spoilt)
        try file.check()
      }
      if let file = try? OrderedFile(bytes: spoilt), let found = try? file.entries() {
        #expect(found == all, "byte \(offset)")
      }
    }
    for count in stride(from: 0, to: bytes.count, by: 397) {
      #expect(throws: StoreError.self) { try OrderedFile(bytes: Array(bytes[..<count])) }
    }
  }

  @Test("Invalid pages with right checksums are errors, and do not crash")
  func hostilePages() throws {
    var generator = Seeds.generator(for: "hostile ordered files")
    let all = entries(300, &generator)
    let bytes = try MemorySink.file(all)
    // Only the checksums depend on the bytes, so they are recomputed.
    var refusals = 0
    func read(_ body: () throws -> Void) throws {
      do { try body() } catch let error as StoreError {
        #expect(error.code == .damaged)
        refusals += 1
      }
    }
    for _ in 0..<300 {
      var spoilt = bytes
      var offset = 8
      while offset < spoilt.count - 64 {
        let size =
          Int(spoilt[offset]) | Int(spoilt[offset + 1]) << 8 | Int(spoilt[offset + 2]) << 16
        if Bool.random(using: &generator) {
          let target = offset + 8 + Int.random(in: 0..<min(size - 8, 120), using: &generator)
          spoilt[target] = UInt8.random(in: 0...255, using: &generator)
        }
        let page = Array(spoilt[offset + 8..<offset + size])
        var head: [UInt8] = []
        head.append(littleEndian: OrderedFileFormat.checksum(page.span, at: offset))
        spoilt.replaceSubrange(offset + 4..<offset + 8, with: head)
        offset += size
      }
      let file = try OrderedFile(bytes: spoilt)
      try read { _ = try file.entries() }
      try read {
        _ = try file.entries(KeyRange(from: all[20].key, to: all[250].key), isReversed: true)
      }
      try read { _ = try all[100].key.lend { try file.withValue($0) { $0.byteCount } } }
      try read { _ = try all[100].key.lend { try file.rank(of: $0) } }
      try read { try file.check() }
    }
    // Most of what is spoilt makes no sense: at the least the check of all pages says so.
    #expect(refusals > 300)
  }

  @Test("Pages pass through a codec, which can change their size")
  func codec() throws {
    var generator = Seeds.generator(for: "sealed ordered files")
    let all = entries(5_000, &generator)
    let bytes = try MemorySink.file(all, codec: Mask())
    let file = try OrderedFile(bytes: bytes, codec: Mask())
    #expect(try file.entries() == all)
    try file.check()
    #expect(throws: StoreError.self) { try OrderedFile(bytes: bytes).entries() }
  }

  @Test("A recently opened page is not opened again, and the number of kept pages is bounded")
  func openedPages() throws {
    struct Counting: OrderedPageCodec {
      let count = SharedLock(0)
      func seal(_ page: [UInt8], at offset: Int) -> [UInt8] { page }
      func open(_ stored: RawSpan, at offset: Int) -> [UInt8] {
        count.withLock { $0 += 1 }
        return [UInt8](copying: stored)
      }
    }
    let all = (0..<40_000).map { number in
      OrderedEntry(
        key: [UInt8(number >> 8), UInt8(number & 255)], value: [1, 2, 3, 4, 5, 6, 7, 8])
    }
    let codec = Counting()
    let file = try OrderedFile(bytes: try MemorySink.file(all, codec: codec), codec: codec)
    func opens(_ indices: some Sequence<Int>) throws -> Int {
      let before = codec.count.withLock { $0 }
      for index in indices {
        let value = try all[index].key.lend { key in
          try file.withValue(key) { [UInt8](copying: $0) }
        }
        #expect(value == all[index].value)
      }
      return codec.count.withLock { $0 } - before
    }
    let depth = Int(file.footer.depth)
    try #require(depth > 1)
    #expect(try opens([20_000]) == depth)
    #expect(try opens([20_000, 20_001, 20_002]) == 0)
    // Far apart: the pages above are open, and each look-up opens one below.
    let far = Array(stride(from: 0, to: 40_000, by: 500))
    #expect(try opens(far) <= far.count + 4)
    // All pages of the lowest level, of which a part is kept.
    let pages = try opens(all.indices)
    #expect(pages > 100)
    #expect(try opens(all.indices) > pages / 2)
  }

  @Test("Many changes are sorted by key, and the last one of each key is kept")
  func sorting() {
    var generator = Seeds.generator(for: "sorting keys")
    for count in [0, 1, 2, 10, 300, 20_000] {
      var changes = ChangeSet()
      let table = OrderedTableID(index: 0)
      var model: [[UInt8]: [UInt8]] = [:]
      for number in 0..<count {
        let size = Int.random(in: 0...12, using: &generator)
        let key =
          Array("Song".utf8) + (0..<size).map { _ in UInt8.random(in: 0...3, using: &generator) }
        changes.set(key, to: [UInt8(number & 255)], in: table)
        model[key] = [UInt8(number & 255)]
      }
      let run = KeyRun(bytes: changes.bytes, changes.ordered.first?.changes ?? [])
      let keys = run.changes.map { Array(run.bytes[$0.key]) }
      #expect(keys == model.keys.sorted { $0.lexicographicallyPrecedes($1) })
      #expect(
        run.changes.allSatisfy { model[Array(run.bytes[$0.key])] == Array(run.bytes[$0.value]) })
    }
  }

  @Test(
    "The name of a file tells its table",
    arguments: [
      ("Song.ordered", "Song"), ("a.b.index", "a.b"), (".\u{301}a.ordered", ".\u{301}a"),
      ("a.ordered.index", "a.ordered"), (".ordered", nil), (".a.ordered", nil), ("..index", nil),
      ("Song", nil), ("Song.", nil), ("Song.Ordered", nil), ("Song.\u{301}ordered", nil), ("", nil),
    ])
  func names(fileName: String, name: String?) {
    let found = OrderedTableName(fileName: fileName)
    #expect(found?.name == name)
    #expect(found == nil || found?.fileName == fileName)
  }
}

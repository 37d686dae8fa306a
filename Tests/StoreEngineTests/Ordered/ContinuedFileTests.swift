import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Files of ordered tables that continue earlier ones")
struct ContinuedFileTests {
  private static let table = OrderedTableID(index: 0)

  /// Changes sealed pages with their offset, so that a page is valid in one place only.
  private struct Mask: OrderedPageCodec {
    func seal(_ page: [UInt8], at offset: Int) -> [UInt8] {
      page.map { $0 ^ UInt8(offset >> 3 & 255) } + [UInt8(offset >> 3 & 255)]
    }
    func open(_ stored: RawSpan, at offset: Int) throws(StoreError) -> [UInt8] {
      let mask = UInt8(offset >> 3 & 255)
      let bytes = [UInt8](copying: stored)
      guard bytes.last == mask else { throw StoreError(.damaged, "Not sealed here.") }
      return bytes.dropLast().map { $0 ^ mask }
    }
  }

  private func key(_ number: Int) -> [UInt8] {
    let end = number % 97 == 0 ? [UInt8](repeating: 7, count: number % 5_000) : []
    return [1, UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)] + end
  }

  /// Returns the next file of a table: keys are set, and those without a value removed.
  private func file(
    after earlier: OrderedFile, _ changes: [(Int, [UInt8]?)], _ codec: (any OrderedPageCodec)?
  ) throws -> [UInt8] {
    var set = ChangeSet()
    for (number, value) in changes { set.set(key(number), to: value, in: Self.table) }
    let run = KeyRun(bytes: set.bytes, set.ordered.first?.changes ?? [])
    let sink = MemorySink()
    var writer = OrderedFileWriter(sink, codec: codec)
    try writer.append(OrderedView(base: .file(earlier), runs: KeyRuns(only: run)))
    try writer.finish(isSynced: false)
    return sink.bytes
  }

  private func entries(_ model: [Int: [UInt8]]) -> [OrderedEntry] {
    model.map { OrderedEntry(key: key($0.key), value: $0.value) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  @Test("Each of many files in a row contains what a dictionary says", arguments: [false, true])
  func model(isSealed: Bool) throws {
    var generator = Seeds.generator(for: "continued files")
    let codec: (any OrderedPageCodec)? = isSealed ? Mask() : nil
    var (model, last) = ([Int: [UInt8]](), 0)
    var file = try OrderedFile(bytes: MemorySink.file([], codec: codec), codec: codec)
    for _ in 0..<40 {
      var changes: [(Int, [UInt8]?)] = []
      // Usually only new keys, sometimes a change far in front, or at the end, or a removal.
      for _ in 0..<Int.random(in: 0..<800, using: &generator) {
        last += Int.random(in: 1...2, using: &generator)
        changes.append((last, [UInt8](repeating: 3, count: .random(in: 0..<60, using: &generator))))
      }
      for _ in 0..<Int.random(in: 0..<3, using: &generator) where last > 0 {
        let near = Bool.random(using: &generator) ? max(1, last - 900) : 1
        let value: [UInt8]? = Bool.random(using: &generator) ? [9] : nil
        changes.append((.random(in: near...last, using: &generator), value))
      }
      for (number, value) in changes { model[number] = value }
      file = try OrderedFile(bytes: self.file(after: file, changes, codec), codec: codec)
      try file.check()
      #expect(file.count == model.count)
      let isSame = try file.entries() == entries(model)
      #expect(isSame)
    }
  }

  @Test("A file with keys at its end is the same as one that is written from its first key")
  func appended() throws {
    var generator = Seeds.generator(for: "appended keys")
    let value: [UInt8] = [1, 2, 3]
    for _ in 0..<12 {
      let count = Int.random(in: 1..<9_000, using: &generator)
      let first = (1...count).map { OrderedEntry(key: key($0), value: value) }
      let file = try OrderedFile(bytes: MemorySink.file(first))
      let later = count + 1...count + Int.random(in: 1..<900, using: &generator)
      let continued = try self.file(after: file, later.map { ($0, value) }, nil)
      let all = first + later.map { OrderedEntry(key: key($0), value: value) }
      let isSame = try continued == MemorySink.file(all)
      #expect(isSame)
    }
  }

  @Test("A file whose last page begins an index page is continued, too")
  func beginningIndexPages() throws {
    // Four keys fill a page, and about 150 of these an index page.
    let value = [UInt8](repeating: 1, count: 900)
    for count in 560...640 {
      let first = (1...count).map { OrderedEntry(key: key(97 * 5_000 + $0), value: value) }
      let file = try OrderedFile(bytes: MemorySink.file(first))
      let last = 97 * 5_000 + count + 1
      let continued = try self.file(after: file, [(last, value)], nil)
      let isSame = try continued == MemorySink.file(first + [.init(key: key(last), value: value)])
      #expect(isSame)
    }
  }

  @Test("A damaged page is not copied")
  func damage() throws {
    var bytes = try MemorySink.file((1...3_000).map { OrderedEntry(key: key($0), value: [5]) })
    bytes[9_000] ^= 1
    let file = try OrderedFile(bytes: bytes)
    let error = #expect(throws: StoreError.self) {
      _ = try self.file(after: file, [(3_001, [5])], nil)
    }
    #expect(error?.code == .damaged)
  }
}

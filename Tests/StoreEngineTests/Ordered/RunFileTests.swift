import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Files of sorted runs")
struct RunFileTests {
  private func keys(_ count: Int) -> [[UInt8]] {
    (0..<count).map { Array(($0 % 2 == 0 ? "k\($0)" : "item \($0 + 100) of the run").utf8) }
  }

  /// The file of a run whose keys are new, exist below, or are removed in turn.
  private func run(
    _ keys: [[UInt8]], codec: (any OrderedPageCodec)? = nil
  ) throws -> OrderedFile {
    let sink = MemorySink()
    var writer = OrderedFileWriter(sink, codec: codec, content: .run, filterSeed: 7)
    var entry: [UInt8] = []
    for (index, key) in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).enumerated() {
      let bytes = key + [9, 9]
      let change =
        index % 3 == 2
        ? ChangeSet.KeyChange(removing: 0, keyCount: key.count)
        : ChangeSet.KeyChange(putting: 0, keyCount: key.count, valueCount: 2)
      try writer.append(change, bytes, growth: [1, 0, -1][index % 3], &entry)
    }
    try writer.finish(isSynced: false)
    return try OrderedFile(any: MappedFile(copying: sink.bytes), codec: codec)
  }

  @Test("The filter has the same bits in every process")
  func filter() throws {
    let keys = (0..<20).map { number in
      let two = number < 10 ? "0\(number)" : "\(number)"
      return Array((number % 2 == 0 ? "k\(number)" : "item \(two) of the run").utf8)
    }
    let file = try run(keys)
    let words: [UInt64] = [
      7, 0x201_e822_1c42_0282, 0x304_2040_0020_21044, 0x802_c081_c832_4280,
      0x4008_c000_8220_8089, 0x562_8024_0000_9063,
    ]
    var expected: [UInt8] = []
    for word in words { expected.append(littleEndian: word) }
    #expect(try file.readFilter().bytes == expected)
    for key in keys { #expect(try key.lend { (key) in try file.mayContain(key) }) }
    let others = try (0..<1000).filter { number in
      try Array("other \(number)".utf8).lend { (key) in try file.mayContain(key) }
    }
    #expect(others.count < 60)
  }

  @Test("The growth before each key is the sum of the entries before it", arguments: [false, true])
  func growth(isSealed: Bool) throws {
    let keys = keys(3000).sorted { $0.lexicographicallyPrecedes($1) }
    let file = try run(keys, codec: isSealed ? Mask() : nil)
    #expect(file.footer.depth > 1)
    for (index, key) in keys.enumerated() {
      let expected = [0, 1, 1][index % 3]
      #expect(try file.growth(before: key) == expected)
    }
    #expect(try file.checkedGrowth() == 0)
  }

  @Test("A cursor has all changes of a range, forwards and backwards", arguments: [false, true])
  func cursor(isReversed: Bool) throws {
    let keys = keys(3000).sorted { $0.lexicographicallyPrecedes($1) }
    let file = try run(keys)
    for (start, end) in [(0, 3000), (17, 2900), (1000, 1001), (5, 5)] {
      let range = KeyRange(from: keys[start], to: end < 3000 ? keys[end] : nil)
      var cursor = try FileRunCursor(file, range, isReversed: isReversed)
      var found: [[UInt8]] = []
      while let (bytes, change) = cursor.next {
        let index = isReversed ? end - 1 - found.count : start + found.count
        #expect(change.isRemoval == (index % 3 == 2) && cursor.growth == [1, 0, -1][index % 3])
        #expect(Array(bytes[change.value]) == (change.isRemoval ? [] : [9, 9]))
        found.append(Array(bytes[change.key]))
        try cursor.advance()
      }
      #expect(found == (isReversed ? keys[start..<end].reversed() : Array(keys[start..<end])))
    }
  }

  @Test("A run is not taken for a table, and a list with a repeated number is not valid")
  func strangers() throws {
    let file = try run(keys(30))
    #expect(throws: StoreError.self) { try OrderedFile(file.file, codec: nil) }
    let mark = FileMark(epoch: 5, number: 6)
    var list = SegmentList(nextNumber: 9)
    list.parts = [
      .init(number: 1, mark: mark, firstKey: []), .init(number: 2, mark: mark, firstKey: [4]),
    ]
    list.runs = [.init(number: 7, mark: mark, growth: -3)]
    (list.keyCount, list.mergingCount, list.mergedTo) = (70, 1, [4])
    #expect(try copy(list) == list)
    list.runs[0].number = 2
    #expect(throws: StoreError.self) { try copy(list) }
    list.runs[0].number = 9
    #expect(throws: StoreError.self) { try copy(list) }
    list.runs[0].number = 7
    list.parts[1].firstKey = []
    #expect(throws: StoreError.self) { try copy(list) }
  }

  /// Writes a list, and reads it.
  private func copy(_ list: SegmentList) throws -> SegmentList {
    let sink = MemorySink()
    var writer = OrderedFileWriter(sink, codec: nil, content: .segments)
    try list.write(to: &writer)
    try writer.finish(isSynced: false)
    return try SegmentList(OrderedFile(any: MappedFile(copying: sink.bytes), codec: nil))
  }
}

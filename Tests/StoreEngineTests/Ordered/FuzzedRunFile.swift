import Files
import FormatFuzzing
import StoredObjectsTestSupport

@testable import StoreEngine

/// Files of sorted runs, and lists of segments.
///
/// As with files of keys, each is read twice: unchanged, and with corrected checksums.
struct FuzzedRunFile: FuzzedFormat {
  let name = "runs"

  private typealias Entry = (key: [UInt8], growth: Int, value: [UInt8]?)

  func makeFile(_ random: inout SeededGenerator) throws -> [UInt8] {
    let sink = MemorySink()
    let isList = Int.random(in: 0..<4, using: &random) == 0
    let content: OrderedFileFormat.Content = isList ? .segments : .run
    var writer = OrderedFileWriter(sink, codec: nil, content: content, filterSeed: random.next())
    if isList {
      try list(&random).write(to: &writer)
    } else {
      try writeRun(to: &writer, &random)
    }
    try writer.finish(isSynced: false)
    return sink.bytes
  }

  private func list(_ random: inout SeededGenerator) -> SegmentList {
    var list = SegmentList(nextNumber: 100)
    let mark = FileMark(epoch: 7, number: 8)
    for number in 0..<UInt64.random(in: 0...5, using: &random) {
      let key: [UInt8] = number == 0 ? [] : [UInt8(number)]
      list.parts.append(.init(number: number + 1, mark: mark, firstKey: key))
    }
    for number in 0..<UInt64.random(in: 0...4, using: &random) {
      let growth = Int.random(in: -9...9, using: &random)
      list.runs.append(.init(number: number + 10, mark: mark, growth: growth))
    }
    list.mergingCount = Int.random(in: 0...list.runs.count, using: &random)
    list.mergedTo = list.mergingCount == 0 ? [] : [2]
    return list
  }

  private func writeRun(
    to writer: inout OrderedFileWriter, _ random: inout SeededGenerator
  ) throws {
    var keys: Set<[UInt8]> = []
    let isLarge = Int.random(in: 0..<12, using: &random) == 0
    for _ in 0..<Int.random(in: 0...(isLarge ? 400 : 40), using: &random) {
      let count = Int.random(in: 0...(isLarge ? 90 : 6), using: &random)
      keys.insert((0..<count).map { _ in UInt8.random(in: 0...3, using: &random) })
    }
    var entry: [UInt8] = []
    for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let growth = Int.random(in: -1...1, using: &random)
      let count = Int.random(in: 0...60, using: &random)
      let change =
        growth < 0
        ? ChangeSet.KeyChange(removing: 0, keyCount: key.count)
        : ChangeSet.KeyChange(putting: 0, keyCount: key.count, valueCount: count)
      let bytes = key + [UInt8](repeating: 5, count: count)
      try writer.append(change, bytes, growth: growth, &entry)
    }
  }

  func fields(of file: [UInt8]) -> [Range<Int>] { FuzzedOrderedFile().fields(of: file) }

  /// Returns the file with corrected checksums of pages, filter and footer.
  private func sealed(_ file: [UInt8]) -> [UInt8] {
    var sealed = FuzzedOrderedFile().sealed(file)
    let end = file.count - OrderedFileFormat.footerSize
    guard end > 0,
      let footer = OrderedFileFormat.Footer(Array(sealed[end...]), fileSize: file.count),
      footer.filterSize > OrderedFileFormat.pageHeadSize
    else { return sealed }
    let start = end - footer.filterSize
    let stored = Array(sealed[start + OrderedFileFormat.pageHeadSize..<end])
    let checksum = OrderedFileFormat.checksum(
      stored.span, at: OrderedFileFormat.filterPlace(start))
    var bytes: [UInt8] = []
    bytes.append(littleEndian: checksum)
    sealed.replaceSubrange(start + 4..<start + 8, with: bytes)
    return sealed
  }

  // MARK: Reading

  func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    let isSound = try readOnce(file, &random)
    _ = try readOnce(sealed(file), &random)
    return isSound
  }

  private func readOnce(_ bytes: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    guard
      let file = try attempt({ try OrderedFile(any: MappedFile(copying: bytes), codec: nil) })
    else { return false }
    let isSound = try attempt { try file.check() } != nil
    switch file.footer.content {
    case .keys: return false
    case .segments: return try attempt { try SegmentList(file) } != nil && isSound
    case .run: return try readRun(file, isSound, &random)
    }
  }

  private func readRun(
    _ file: OrderedFile, _ isSound: Bool, _ random: inout SeededGenerator
  ) throws -> Bool {
    let all = try attempt { try entries(file, KeyRange(), isReversed: false) }
    let back = try attempt { try entries(file, KeyRange(), isReversed: true) }
    for _ in 0..<6 {
      let key = all?.randomElement(using: &random)?.key ?? [1]
      let growth = try attempt { try file.growth(before: key) }
      let mayContain = try attempt { try key.lend { try file.mayContain($0) } }
      guard isSound, let all else { continue }
      let before = all.filter { $0.key.lexicographicallyPrecedes(key) }
      guard growth == before.reduce(0, { $0 + $1.growth }), mayContain == true || all.isEmpty
      else { throw FuzzFailure("a sound run counts other keys than it has") }
    }
    guard isSound else { return false }
    guard let all, let back, all.count == file.count,
      all.elementsEqual(back.reversed(), by: { $0.key == $1.key && $0.value == $1.value })
    else { throw FuzzFailure("a sound run has other keys from the other side") }
    return true
  }

  private func entries(
    _ file: OrderedFile, _ range: KeyRange, isReversed: Bool
  ) throws -> [Entry] {
    var cursor = try FileRunCursor(file, range, isReversed: isReversed)
    var entries: [Entry] = []
    while let (bytes, change) = cursor.next {
      let value = change.isRemoval ? nil : Array(bytes[change.value])
      entries.append((Array(bytes[change.key]), cursor.growth, value))
      try cursor.advance()
    }
    return entries
  }

  /// Returns the result of a closure, or nil if the reader refuses the bytes.
  private func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as StoreError where error.code == .damaged { return nil }
  }
}

import Files
import StoredObjectsCore
package import StoredObjectsTestSupport

/// Files of ordered tables.
///
/// Each is read twice: unchanged, and with corrected checksums of its pages and footer. Without the
/// correction hardly any damage would get past the checksums.
package struct FuzzedOrderedFile: FuzzedFormat {
  package let name = "ordered"

  package init() {}

  private typealias Entry = (key: [UInt8], value: [UInt8])

  /// The ranges of the numbers in the footer.
  private static let footerFields = [8..<12, 12..<16, 16..<24, 24..<28, 32..<40, 40..<48]

  // MARK: Making files

  package func makeFile(_ random: inout SeededGenerator) throws -> [UInt8] {
    var entries: [[UInt8]: [UInt8]] = [:]
    // A few files are so large that they have three levels of pages or more.
    let isLarge = Int.random(in: 0..<16, using: &random) == 0
    for _ in 0..<Int.random(in: 0...(isLarge ? 20 : 3), using: &random) {
      let prefix = bytes(Int.random(in: 0...(isLarge ? 700 : 20), using: &random), &random)
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        let key = prefix + bytes(Int.random(in: 0...4, using: &random), &random)
        entries[key] = bytes(Int.random(in: 0...(isLarge ? 400 : 120), using: &random), &random)
      }
    }
    let sink = Sink()
    var writer = OrderedFileWriter(sink, codec: nil)
    for (key, value) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      try key.lend { key in try value.lend { try writer.append(key, $0) } }
    }
    try writer.finish(isSynced: false)
    return sink.bytes
  }

  /// A file in memory.
  private final class Sink: OrderedFileSink {
    private(set) var bytes: [UInt8] = []
    func write(_ bytes: [UInt8]) { self.bytes += bytes }
    func finish(isSynced: Bool) {}
  }

  private func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...3, using: &random) }
  }

  package func fields(of file: [UInt8]) -> [Range<Int>] {
    let footer = file.count - OrderedFileFormat.footerSize
    let ends = Self.footerFields.map { footer + $0.lowerBound..<footer + $0.upperBound }
    return pages(of: file).flatMap { fields(ofPage: $0) } + ends
  }

  private func fields(ofPage page: Range<Int>) -> [Range<Int>] {
    let start = page.lowerBound + OrderedFileFormat.pageHeadSize
    var fields = [
      page.lowerBound..<page.lowerBound + 4, start..<start + 2, start + 2..<start + 3,
      start + 4..<start + 8,
    ]
    for slot in stride(from: start + 8, to: min(start + 40, page.upperBound - 2), by: 2) {
      fields.append(slot..<slot + 2)
    }
    // Page offsets, sizes and ranks are at the end of the page; some are whole 8-byte fields, so
    // that they may have the largest values.
    if page.count > 28 {
      fields.append(page.upperBound - 8..<page.upperBound)
      fields.append(page.upperBound - 20..<page.upperBound - 12)
    }
    for offset in stride(from: page.upperBound - 4, to: max(start, page.upperBound - 44), by: -4) {
      fields.append(offset..<offset + 4)
    }
    return fields
  }

  /// Returns the pages, as long as each follows the previous one.
  private func pages(of file: [UInt8]) -> [Range<Int>] {
    var pages: [Range<Int>] = []
    var offset = OrderedFileFormat.magic.count
    let end = file.count - OrderedFileFormat.footerSize
    while offset + OrderedFileFormat.pageHeadSize < end {
      let size = (0..<4).reduce(0) { $0 | Int(file[offset + $1]) << (8 * $1) }
      guard size > OrderedFileFormat.pageHeadSize, size <= end - offset else { break }
      pages.append(offset..<offset + size)
      offset += size
    }
    return pages
  }

  /// Returns the file with corrected checksums.
  package func sealed(_ file: [UInt8]) -> [UInt8] {
    var sealed = file
    let footer = file.count - OrderedFileFormat.footerSize
    guard footer >= OrderedFileFormat.magic.count else { return file }
    for page in pages(of: file) {
      let stored = Array(file[page.dropFirst(OrderedFileFormat.pageHeadSize)])
      let checksum = OrderedFileFormat.checksum(stored.span, at: page.lowerBound)
      put(checksum, at: page.lowerBound + 4, &sealed)
    }
    var checksum = CRC32C()
    checksum.update(Array(sealed[footer..<sealed.count - 4]).span)
    put(checksum.value, at: sealed.count - 4, &sealed)
    return sealed
  }

  private func put(_ number: UInt32, at offset: Int, _ bytes: inout [UInt8]) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: number >> UInt32(8 * index))
    }
  }

  // MARK: Reading

  package func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    let isSound = try readOnce(file, &random)
    _ = try readOnce(sealed(file), &random)
    return isSound
  }

  private func readOnce(_ bytes: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    var salvage = OrderedSalvage(MappedFile(copying: bytes))
    salvage.run()
    guard
      let file = try attempt({ try OrderedFile(MappedFile(copying: bytes), codec: nil) })
    else { return false }
    let isSound = try attempt { try file.check() } != nil
    let all = try attempt { try entries(file, KeyRange()) }
    try compareScans(file, all, isSound: isSound, &random)
    try compareLookUps(file, all, isSound: isSound, &random)
    guard isSound, let all else { return isSound }
    if all.count != file.count { throw FuzzFailure("a sound file is counted wrongly") }
    let salvaged = Set(
      (salvage.changes.ordered.first?.changes ?? []).map { Array(salvage.changes.bytes[$0.key]) })
    if !all.allSatisfy({ salvaged.contains($0.key) }) {
      throw FuzzFailure("a salvage misses keys of a sound file")
    }
    return true
  }

  private func entries(
    _ file: OrderedFile, _ range: KeyRange, isReversed: Bool = false
  ) throws -> [Entry] {
    var entries: [Entry] = []
    _ = try file.scan(range, isReversed: isReversed) { key, value in
      entries.append(([UInt8](copying: key), [UInt8](copying: value)))
      // Pages that lead back to themselves are never in a sound file, but may be read.
      return entries.count > 100_000 ? .pause : .next
    }
    return entries
  }

  private func compareScans(
    _ file: OrderedFile, _ all: [Entry]?, isSound: Bool, _ random: inout SeededGenerator
  ) throws {
    let back = try attempt { try entries(file, KeyRange(), isReversed: true) }
    try expect(isSound, all, back?.reversed())
    for _ in 0..<6 {
      let ends = [aKey(all, &random), aKey(all, &random)]
        .sorted { $0.lexicographicallyPrecedes($1) }
      let range = KeyRange(from: ends[0], to: Bool.random(using: &random) ? ends[1] : nil)
      let isReversed = Bool.random(using: &random)
      let found = try attempt { try entries(file, range, isReversed: isReversed) }
      let expected = all?.filter { range.contains($0.key) }
      try expect(isSound, isReversed ? expected?.reversed() : expected, found)
    }
  }

  private func compareLookUps(
    _ file: OrderedFile, _ all: [Entry]?, isSound: Bool, _ random: inout SeededGenerator
  ) throws {
    for _ in 0..<12 {
      let key = aKey(all, &random)
      let value = try attempt {
        try key.lend { try file.withValue($0) { [UInt8](copying: $0) } }
      }
      let rank = try attempt { try key.lend { try file.rank(of: $0) } }
      guard isSound, let all else { continue }
      let offset = all.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? all.count
      let isThere = offset < all.count && all[offset].key == key
      guard let value, value == (isThere ? all[offset].value : nil), rank == offset else {
        throw FuzzFailure("a sound file finds other keys than it lists")
      }
    }
  }

  /// Returns an existing key, or one close to it.
  private func aKey(_ all: [Entry]?, _ random: inout SeededGenerator) -> [UInt8] {
    let key = all?.randomElement(using: &random)?.key ?? bytes(3, &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return key + [0]
    case 1: return Array(key.dropLast())
    default: return key
    }
  }

  private func expect(_ isSound: Bool, _ expected: [Entry]?, _ found: [Entry]?) throws {
    guard isSound else { return }
    let isSame = expected.flatMap { expected in
      found.map { $0.elementsEqual(expected) { $0.key == $1.key && $0.value == $1.value } }
    }
    if isSame != true { throw FuzzFailure("a sound file has other keys from another side") }
  }

  /// Returns the result of a closure, or nil if the reader refuses the bytes.
  private func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as StoreError where error.code == .damaged { return nil }
  }
}

import Files

/// A page that is being filled.
struct OrderedPageBuilder {
  let level: Int
  /// The whole keys, each followed by its value.
  private var bytes: [UInt8] = []
  /// The start and the length of each key.
  private var entries: [(start: Int, keyCount: Int)] = []
  /// The length of the prefix common to all keys.
  private var prefixCount = 0
  /// The size of the entries without a prefix.
  private var plainSize = 0

  init(level: Int) { self.level = level }

  var count: Int { entries.count }

  private func entrySize(_ keyCount: Int, _ valueCount: Int) -> Int {
    // The offset, the size of the key, which takes up to five bytes, the key and the value.
    OrderedFileFormat.slotSize(level) + (keyCount < 0x80 ? 1 : 5) + keyCount + valueCount
  }

  /// Adds an entry after all others; returns false if it belongs to the next page.
  mutating func add(_ key: RawSpan, _ value: RawSpan) -> Bool {
    let newPrefix =
      count == 0
      ? key.byteCount
      : bytes.lend(0..<prefixCount) { $0.commonPrefixCount(key) }
    let newSize = plainSize + entrySize(key.byteCount, value.byteCount)
    let size = OrderedFileFormat.fieldsSize + newSize - newPrefix * count
    if size > OrderedFileFormat.pageSize, count >= OrderedFileFormat.leastCount(level) {
      return false
    }
    entries.append((bytes.count, key.byteCount))
    bytes.append(copying: key)
    bytes.append(copying: value)
    (prefixCount, plainSize) = (newPrefix, newSize)
    return true
  }

  /// Calls a closure with the last key.
  func lendLastKey<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let last = entries.last else { return nil }
    return try bytes.lend(last.start..<last.start + last.keyCount, body)
  }

  /// Returns the bytes of the page, and empties the builder.
  mutating func takePage() -> [UInt8] {
    var page: [UInt8] = []
    page.reserveCapacity(OrderedFileFormat.fieldsSize + plainSize)
    page.append(littleEndian: UInt16(count))
    page.append(UInt8(level))
    page.append(0)
    page.append(littleEndian: UInt32(prefixCount))
    var offset = 0
    for (index, entry) in entries.enumerated() {
      if level == 0 {
        page.append(littleEndian: UInt16(offset))
      } else {
        page.append(littleEndian: UInt32(offset))
      }
      let end = index + 1 < count ? entries[index + 1].start : bytes.count
      let keyCount = entry.keyCount - prefixCount
      offset += Self.varintSize(keyCount) + end - entry.start - prefixCount
    }
    bytes.lend(0..<prefixCount) { page.append(copying: $0) }
    for (index, entry) in entries.enumerated() {
      let end = index + 1 < count ? entries[index + 1].start : bytes.count
      Self.appendVarint(entry.keyCount - prefixCount, to: &page)
      bytes.lend(entry.start + prefixCount..<end) { page.append(copying: $0) }
    }
    assert(
      page.count <= OrderedFileFormat.fieldsSize + plainSize - prefixCount * (count - 1),
      "a page is larger than the sum of its entries")
    removeAll()
    return page
  }

  private mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    (prefixCount, plainSize) = (0, 0)
  }

  private static func varintSize(_ number: Int) -> Int {
    var (size, rest) = (1, number >> 7)
    while rest > 0 { (size, rest) = (size + 1, rest >> 7) }
    return size
  }

  private static func appendVarint(_ number: Int, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

import Files
import Locks

/// The filter of a run in a file: the seed of the hashes (8), and the words.
final class StoredFilter: Sendable {
  /// The filter; nil if the file has none.
  private let filter: KeyFilter?
  private let seed: UInt64

  init(_ filter: KeyFilter?, seed: UInt64) { (self.filter, self.seed) = (filter, seed) }

  /// Reads the bytes of a filter; nil if they can't be one.
  convenience init?(bytes: RawSpan) {
    guard bytes.byteCount > 8,
      let filter = KeyFilter(words: bytes.extracting(droppingFirst: 8))
    else { return nil }
    self.init(filter, seed: bytes.loadUInt64(at: 0, isBigEndian: false))
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: seed)
    filter?.append(to: &bytes)
    return bytes
  }

  /// Whether the run may have a key.
  @inline(__always)
  func mayContain(_ key: RawSpan) -> Bool {
    filter?.mayContain(key.storedHash(seed: seed)) ?? true
  }
}

// The file of a sorted run has a filter, and counts by how many keys it makes its table larger.
extension OrderedFile {
  /// Whether a key may be in the run.
  ///
  /// The first call reads the filter.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  func mayContain(_ key: RawSpan) throws(StoreError) -> Bool {
    if let known = filter.withObject({ $0.mayContain(key) }) { return known }
    let stored = try readFilter()
    filter.setIfNil(stored)
    return stored.mayContain(key)
  }

  /// The offset behind the last page.
  var endOfPages: Int { byteCount - OrderedFileFormat.footerSize - footer.filterSize }

  /// Reads the filter; if the file has none, it contains every key.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  func readFilter() throws(StoreError) -> StoredFilter {
    if footer.filterSize == 0 { return StoredFilter(nil, seed: 0) }
    let (start, head) = (endOfPages, OrderedFileFormat.pageHeadSize)
    let filter = try file.withBytes { (bytes) throws(StoreError) -> StoredFilter? in
      let block = bytes.extracting(start..<start + footer.filterSize)
      guard OrderedFileFormat.isFilter(block, at: start) else { return nil }
      let stored = block.extracting(head..<block.byteCount)
      guard let codec else { return StoredFilter(bytes: stored) }
      return try codec.open(stored, at: start).lend { StoredFilter(bytes: $0) }
    }
    guard let filter else { throw damage("The filter of a run is damaged", at: start) }
    return filter
  }

  /// Returns the number of keys by which the entries before a key make the table larger.
  ///
  /// Complexity: O(log n), and linear in the entries of a page.
  func growth(before key: [UInt8]) throws(StoreError) -> Int {
    if key.isEmpty { return 0 }
    var growth = 0
    try key.lend { (key) throws(StoreError) in
      try lendLeaf(for: key) { node, page, bytes in
        growth = node.growth
        for index in 0..<(try page.bound(key, passingEqual: false, bytes)) {
          let entry = bytes.extracting(try page.entry(index, bytes).value)
          guard RunEntry.isRemoval(entry) != nil else {
            throw OrderedPage.Damage(offset: try page.entry(index, bytes).value.lowerBound)
          }
          growth += RunEntry.growth(entry)
        }
      }
    }
    return growth
  }
}

extension OrderedFileFormat {
  /// Whether the bytes at an offset are a filter with its head, whose checksum is right.
  static func isFilter(_ block: RawSpan, at offset: Int) -> Bool {
    guard block.byteCount > pageHeadSize,
      Int(block.loadUInt32(at: 0, isBigEndian: false)) == block.byteCount
    else { return false }
    let stored = Span<UInt8>(_bytes: block.extracting(pageHeadSize..<block.byteCount))
    return block.loadUInt32(at: 4, isBigEndian: false)
      == checksum(stored, at: filterPlace(offset))
  }
}

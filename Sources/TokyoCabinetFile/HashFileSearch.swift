import Files

/// A search for the records of a file whose chain of blocks may be broken.
///
/// No size is trusted unless something else confirms it: the checksum of the record, or the block
/// that begins at its end. So one flipped bit costs one record.
struct HashFileSearch {
  typealias Check = (_ key: RawSpan, _ value: RawSpan) -> Bool

  let geometry: HashFileGeometry
  /// The end of the last block according to the header; the file may be longer.
  let headerEnd: Int
  let isDeflated: Bool
  /// Returns whether a key and a value are what was saved; nil if they can't be verified.
  let isValid: Check?
  /// The steps and kilobytes left for comparing, which limits the time for any file.
  private var budget: Int

  /// The maximum size of keys while searching, which limits the time for each offset.
  private static let longestKey = 1024

  init(
    _ geometry: HashFileGeometry, headerEnd: Int?, isDeflated: Bool, size: Int, isValid: Check?
  ) {
    (self.geometry, self.isDeflated, self.isValid) = (geometry, isDeflated, isValid)
    self.headerEnd = headerEnd ?? geometry.end
    budget = 4 * size + 1 << 20
  }

  /// A block, and the offset at which to search for the next one.
  struct Found {
    let block: HashFileBlock
    /// Whether its sizes are plausible.
    var isSound = true
    let next: Int
    /// Whether a block is known to begin there.
    var isNextCertain = true
    /// The bytes before the next block that are not valid.
    var gap: Range<Int>?
  }

  /// Returns the block at an offset, if it can be trusted.
  mutating func block(at offset: Int, _ bytes: RawSpan) -> Found? {
    guard let block = try? geometry.block(in: bytes, at: offset) else { return nil }
    guard block.isRecord else {
      guard leadsOn(block.end, bytes) else { return nil }
      let inner = embedded(in: offset + 5..<block.end, bytes)
      return Found(block: block, next: inner ?? block.end, isNextCertain: inner == nil)
    }
    let isProven = proves(block, bytes)
    guard isProven || hasRightHash(block, bytes) else { return nil }
    if isProven {
      if leadsOn(block.end, bytes), bytes.isZero(block.value.upperBound..<block.end) {
        return Found(block: block, next: block.end)
      }
      return resumed(behind: block, from: block.value.upperBound, bytes, isSound: true)
    }
    guard leadsOn(block.end, bytes) else {
      return resumed(behind: block, from: block.keyStart, bytes, isSound: false)
    }
    if let inner = embedded(in: block.keyStart..<block.end, bytes) {
      return Found(block: block, isSound: false, next: inner, isNextCertain: false)
    }
    return Found(block: block, next: block.end)
  }

  /// Continues at the first record that is found inside or after a block.
  private mutating func resumed(
    behind block: HashFileBlock, from start: Int, _ bytes: RawSpan, isSound: Bool
  ) -> Found {
    let next = next(from: start, bytes)
    // Only padding is between them, so only the size of the padding was wrong.
    if isSound, next - start <= Int(UInt16.max), bytes.isZero(start..<next) {
      return Found(block: block, next: next)
    }
    return Found(
      block: block, isSound: isSound, next: next, isNextCertain: false, gap: start..<next)
  }

  /// Returns the offset of the next record from a given one on, or the end.
  ///
  /// A record that another block follows is preferred to one that overlaps it.
  mutating func next(from start: Int, _ bytes: RawSpan) -> Int {
    var offset = start
    var doubtful: HashFileBlock?
    while offset < geometry.end {
      if let doubtful, offset >= doubtful.end { return doubtful.offset }
      if bytes.loadByte(at: offset) == HashFileFormat.recordMark,
        let block = candidate(at: offset, bytes)
      {
        if isValid != nil {
          if proves(block, bytes) { return offset }
        } else if leadsOn(block.end, bytes) {
          return offset
        } else if doubtful == nil {
          doubtful = block
        }
      }
      offset += 1
    }
    return doubtful?.offset ?? geometry.end
  }

  // MARK: Trusted blocks

  private func hasRightHash(_ block: HashFileBlock, _ bytes: RawSpan) -> Bool {
    HashFileFormat.hashes(of: bytes.extracting(block.key)).second
      == bytes.loadByte(at: block.offset + 1)
  }

  private func candidate(at offset: Int, _ bytes: RawSpan) -> HashFileBlock? {
    guard let block = try? geometry.block(in: bytes, at: offset),
      block.keyCount <= Self.longestKey, hasRightHash(block, bytes)
    else { return nil }
    return block
  }

  /// Whether the content of a record confirms that it is what was saved.
  private mutating func proves(_ block: HashFileBlock, _ bytes: RawSpan) -> Bool {
    guard let isValid, budget > 0 else { return false }
    budget -= 1 + (block.keyCount + block.valueCount) >> 10
    let (key, value) = (bytes.extracting(block.key), bytes.extracting(block.value))
    if isValid(key, value) { return true }
    guard isDeflated, let plain = Deflate.inflated(value, limit: HashFileFormat.recordLimit) else {
      return false
    }
    return plain.lend { isValid(key, $0) }
  }

  /// Whether a block may end at an offset: another begins there, or it is the end of the file.
  private func leadsOn(_ end: Int, _ bytes: RawSpan) -> Bool {
    if end == geometry.end || end == headerEnd { return true }
    guard let block = try? geometry.block(in: bytes, at: end) else { return false }
    return !block.isRecord || hasRightHash(block, bytes)
  }

  /// Returns the offset, in a part without records, of a record whose successors lead to its end.
  private mutating func embedded(in part: Range<Int>, _ bytes: RawSpan) -> Int? {
    var offset = part.lowerBound
    while offset < part.upperBound {
      if bytes.loadByte(at: offset) == HashFileFormat.recordMark,
        let block = candidate(at: offset, bytes),
        isValid != nil ? proves(block, bytes) : leads(block, to: part.upperBound, bytes)
      {
        return offset
      }
      offset += 1
    }
    return nil
  }

  /// Whether a chain of blocks leads from one to an offset.
  private mutating func leads(_ first: HashFileBlock, to end: Int, _ bytes: RawSpan) -> Bool {
    var block = first
    while block.end < end, budget > 0 {
      budget -= 1
      guard let next = try? geometry.block(in: bytes, at: block.end),
        !next.isRecord || hasRightHash(next, bytes)
      else { return false }
      block = next
    }
    return block.end == end
  }
}

extension RawSpan {
  /// Whether a part contains only zeros.
  fileprivate func isZero(_ part: Range<Int>) -> Bool {
    for offset in part where loadByte(at: offset) != 0 { return false }
    return true
  }
}

import Files

/// Finds the records of a file whose chain of blocks is broken, or may be.
///
/// No size is believed unless something else agrees with it: the checksum of the record, or the
/// block that begins where the record ends. One flipped bit costs one record.
struct HashFileSearch {
  typealias Check = (_ key: RawSpan, _ value: RawSpan) -> Bool

  let geometry: HashFileGeometry
  /// Where the last block ends, by the header; the file may be longer.
  let headerEnd: Int
  let isDeflated: Bool
  /// Whether a key and a value are what was saved; nil where nothing in them tells.
  let isValid: Check?
  /// Steps and kilobytes that may still be spent on comparing, so that no file takes for ever.
  private var budget: Int

  /// When looking, keys that are longer than this are not believed: so each place costs little.
  private static let longestKey = 1024

  init(
    _ geometry: HashFileGeometry, headerEnd: Int?, isDeflated: Bool, size: Int, isValid: Check?
  ) {
    (self.geometry, self.isDeflated, self.isValid) = (geometry, isDeflated, isValid)
    self.headerEnd = headerEnd ?? geometry.end
    budget = 4 * size + 1 << 20
  }

  /// A block, and where the next one is looked for.
  struct Found {
    let block: HashFileBlock
    /// Whether nothing speaks against its sizes.
    var isSound = true
    let next: Int
    /// Whether a block is known to begin there.
    var isNextCertain = true
    /// The bytes between, which make no sense.
    var gap: Range<Int>?
  }

  /// The block at an offset, if one can be believed to be there.
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

  /// Goes on at the first record that is found inside a block, or behind it.
  private mutating func resumed(
    behind block: HashFileBlock, from start: Int, _ bytes: RawSpan, isSound: Bool
  ) -> Found {
    let next = next(from: start, bytes)
    // Nothing but padding is between: the size of the padding was wrong, and no more.
    if isSound, next - start <= Int(UInt16.max), bytes.isZero(start..<next) {
      return Found(block: block, next: next)
    }
    return Found(
      block: block, isSound: isSound, next: next, isNextCertain: false, gap: start..<next)
  }

  /// The next place where a record begins, from a place on; the end if there is none.
  ///
  /// One that another block follows is preferred to one that overlaps it.
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

  // MARK: What can be believed

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

  /// Whether the content of a record says that it is what was saved.
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

  /// Whether a block may end at a place: another begins there, or it is the end.
  private func leadsOn(_ end: Int, _ bytes: RawSpan) -> Bool {
    if end == geometry.end || end == headerEnd { return true }
    guard let block = try? geometry.block(in: bytes, at: end) else { return false }
    return !block.isRecord || hasRightHash(block, bytes)
  }

  /// Where, in a part that should hold no records, one begins from which others lead to its end.
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

  /// Whether blocks follow one another from one up to a place.
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
  /// Whether there are only zeros in a part.
  fileprivate func isZero(_ part: Range<Int>) -> Bool {
    for offset in part where loadByte(at: offset) != 0 { return false }
    return true
  }
}

import Files

/// The locations of the entries in a page.
///
/// Nothing in a page is trusted: an invalid value throws an error with its offset in the page.
struct OrderedPage {
  /// An error about invalid bytes at an offset of a page.
  struct Damage: Error { let offset: Int }

  let count: Int
  let level: Int
  let prefix: Range<Int>
  private let entries: Int
  private let end: Int

  init(_ page: RawSpan) throws(Damage) {
    guard page.byteCount >= OrderedFileFormat.fieldsSize else { throw Damage(offset: 0) }
    count = Int(page.loadUInt16(at: 0, isBigEndian: false))
    level = Int(page.loadByte(at: 2))
    let start = OrderedFileFormat.fieldsSize + OrderedFileFormat.slotSize(level) * count
    let prefixCount = Int(page.loadUInt32(at: 4, isBigEndian: false))
    guard count > 0, start + prefixCount <= page.byteCount else { throw Damage(offset: 4) }
    prefix = start..<start + prefixCount
    entries = prefix.upperBound
    end = page.byteCount
  }

  @inline(__always)
  private func start(of index: Int, _ page: RawSpan) -> Int {
    // Nothing overflows: there are at most 65,535 entries.
    let slots = OrderedFileFormat.fieldsSize
    if level == 0 {
      return entries &+ Int(page.loadUInt16(at: slots &+ 2 &* index, isBigEndian: false))
    }
    return entries &+ Int(page.loadUInt32(at: slots &+ 4 &* index, isBigEndian: false))
  }

  /// Returns the ranges of an entry's key without the prefix, and of its value.
  @inline(__always)
  func entry(_ index: Int, _ page: RawSpan) throws(Damage) -> (key: Range<Int>, value: Range<Int>) {
    var cursor = start(of: index, page)
    let end = index + 1 < count ? start(of: index + 1, page) : end
    guard cursor < end, end <= self.end else { throw Damage(offset: cursor) }
    var size = Int(page.loadByte(at: cursor))
    cursor += 1
    if size >= 0x80 {
      size &= 0x7F
      var shift = 7
      while true {
        guard cursor < end, shift < 35 else { throw Damage(offset: cursor) }
        let byte = Int(page.loadByte(at: cursor))
        cursor += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 { break }
      }
    }
    guard size <= end - cursor else { throw Damage(offset: cursor) }
    return (cursor..<cursor + size, cursor + size..<end)
  }

  /// Returns the first entry whose key is not less than a key.
  ///
  /// With `passingEqual`, it is the first entry whose key is greater.
  ///
  /// Complexity: O(log n).
  func bound(_ key: RawSpan, passingEqual: Bool, _ page: RawSpan) throws(Damage) -> Int {
    guard hasPrefix(of: key, page) else {
      return key.compare(page.extracting(prefix)) < 0 ? 0 : count
    }
    let rest = key.extracting(prefix.count..<key.byteCount)
    return level == 0
      ? try bound(rest, isLeaf: true, passingEqual: passingEqual, page)
      : try bound(rest, isLeaf: false, passingEqual: passingEqual, page)
  }

  /// Returns the range of a key's value; nil if the page does not contain the key.
  func value(of key: RawSpan, _ page: RawSpan) throws(Damage) -> Range<Int>? {
    guard hasPrefix(of: key, page) else { return nil }
    let rest = key.extracting(prefix.count..<key.byteCount)
    let index = try bound(rest, isLeaf: level == 0, passingEqual: false, page)
    guard index < count else { return nil }
    let (found, value) = try entry(index, page)
    // A key that is not less, and has the same length, is equal if the bytes are.
    guard found.count == rest.byteCount, page.extracting(found).hasSameBytes(as: rest) else {
      return nil
    }
    return value
  }

  @inline(__always)
  private func hasPrefix(of key: RawSpan, _ page: RawSpan) -> Bool {
    if prefix.isEmpty { return true }
    return key.byteCount >= prefix.count
      && key.extracting(0..<prefix.count).hasSameBytes(as: page.extracting(prefix))
  }

  /// Does the same for keys without the common prefix; specialized for each kind of page.
  @inline(__always)
  private func bound(
    _ rest: RawSpan, isLeaf: Bool, passingEqual: Bool, _ page: RawSpan
  ) throws(Damage) -> Int {
    let head = rest.head
    let slots = OrderedFileFormat.fieldsSize
    if isLeaf { expectKeys(page) }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low &+ high) &>> 1
      // Nothing overflows: there are at most 65,535 entries.
      let offset =
        isLeaf
        ? Int(page.loadUInt16(at: slots &+ 2 &* middle, isBigEndian: false))
        : Int(page.loadUInt32(at: slots &+ 4 &* middle, isBigEndian: false))
      let (start, count) = try keyRange(middle, entries &+ offset, page)
      // Most keys differ in the eight bytes that are compared at once.
      let other = page.head(at: start, count: count)
      let isBefore: Bool
      if other != head {
        isBefore = other < head
      } else {
        let order = page.extracting(start..<start + count).compare(rest)
        isBefore = order < 0 || passingEqual && order == 0
      }
      if isBefore { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  /// Lets the processor read the first keys that a search of a leaf will compare, at once and not one
  /// after the other.
  private func expectKeys(_ page: RawSpan) {
    let parts = min(count, 8)
    for part in 0..<parts { page.expect(at: start(of: part &* count / parts, page)) }
  }

  /// Returns the range of the key without the prefix, of the entry at an offset.
  @inline(__always)
  private func keyRange(
    _ index: Int, _ cursor: Int, _ page: RawSpan
  ) throws(Damage) -> (start: Int, count: Int) {
    if cursor < end {
      // Most sizes take one byte.
      let size = Int(page.loadByte(at: cursor))
      if size < 0x80, size < end &- cursor { return (cursor &+ 1, size) }
    }
    return try longKeyRange(index, page)
  }

  @inline(never)
  private func longKeyRange(
    _ index: Int, _ page: RawSpan
  ) throws(Damage) -> (start: Int, count: Int) {
    let key = try entry(index, page).key
    return (key.lowerBound, key.count)
  }

  /// Returns the page below that can contain a key.
  func child(for key: RawSpan, _ page: RawSpan) throws(Damage) -> OrderedFileFormat.Child {
    try child(max(0, try bound(key, passingEqual: true, page) - 1), page)
  }

  /// Returns the page below that an entry refers to.
  func child(_ index: Int, _ page: RawSpan) throws(Damage) -> OrderedFileFormat.Child {
    let value = try entry(index, page).value
    let isOfRun = value.count == OrderedFileFormat.runChildSize
    guard isOfRun || value.count == OrderedFileFormat.childSize,
      let offset = Int(exactly: page.loadUInt64(at: value.lowerBound, isBigEndian: false)),
      let rank = Int(exactly: page.loadUInt64(at: value.lowerBound + 12, isBigEndian: false))
    else { throw Damage(offset: value.lowerBound) }
    let size = Int(page.loadUInt32(at: value.lowerBound + 8, isBigEndian: false))
    if !isOfRun { return .init(offset: offset, size: size, rank: rank) }
    let growth = Int64(
      bitPattern: page.loadUInt64(at: value.lowerBound + 20, isBigEndian: false))
    // An entry changes the number of keys by one at most, so that no sum overflows.
    guard growth.magnitude <= UInt64(rank) else { throw Damage(offset: value.lowerBound + 20) }
    return .init(offset: offset, size: size, rank: rank, growth: Int(growth))
  }
}

import Files

/// The numbers by which the entries of a page are found.
///
/// Nothing in a page is believed: what makes no sense is an error with the offset in the page.
struct OrderedPage {
  /// The page makes no sense at an offset.
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

  /// Where an entry has the rest of its key, and its value.
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

  /// The first entry whose key is not before a key, or, if those that equal it are to be passed, is
  /// behind it.
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

  /// Where the value of a key is; nil when the page has no such key.
  func value(of key: RawSpan, _ page: RawSpan) throws(Damage) -> Range<Int>? {
    guard hasPrefix(of: key, page) else { return nil }
    let rest = key.extracting(prefix.count..<key.byteCount)
    let index = try bound(rest, isLeaf: level == 0, passingEqual: false, page)
    guard index < count else { return nil }
    let (found, value) = try entry(index, page)
    // What is not before the key, and as long: the same, if the bytes are.
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

  /// The same among keys without what all begin with; made for each kind of page apart.
  @inline(__always)
  private func bound(
    _ rest: RawSpan, isLeaf: Bool, passingEqual: Bool, _ page: RawSpan
  ) throws(Damage) -> Int {
    let head = rest.head
    let slots = OrderedFileFormat.fieldsSize
    var (low, high) = (0, count)
    while low < high {
      let middle = (low &+ high) &>> 1
      // Nothing overflows: there are at most 65,535 entries.
      let offset =
        isLeaf
        ? Int(page.loadUInt16(at: slots &+ 2 &* middle, isBigEndian: false))
        : Int(page.loadUInt32(at: slots &+ 4 &* middle, isBigEndian: false))
      let (start, count) = try keyRange(middle, entries &+ offset, page)
      // Most keys differ in the eight bytes that one step compares.
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

  /// Where the entry at a place has the rest of its key.
  @inline(__always)
  private func keyRange(
    _ index: Int, _ cursor: Int, _ page: RawSpan
  ) throws(Damage) -> (start: Int, count: Int) {
    if cursor < end {
      // The size of most is in one byte.
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

  /// The page below that has a key if any has.
  func child(for key: RawSpan, _ page: RawSpan) throws(Damage) -> OrderedFileFormat.Child {
    try child(max(0, try bound(key, passingEqual: true, page) - 1), page)
  }

  /// The page below that an entry names.
  func child(_ index: Int, _ page: RawSpan) throws(Damage) -> OrderedFileFormat.Child {
    let value = try entry(index, page).value
    guard value.count == OrderedFileFormat.childSize,
      let offset = Int(exactly: page.loadUInt64(at: value.lowerBound, isBigEndian: false)),
      let rank = Int(exactly: page.loadUInt64(at: value.lowerBound + 12, isBigEndian: false))
    else { throw Damage(offset: value.lowerBound) }
    let size = Int(page.loadUInt32(at: value.lowerBound + 8, isBigEndian: false))
    return .init(offset: offset, size: size, rank: rank)
  }
}

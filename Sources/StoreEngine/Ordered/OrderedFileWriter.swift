import Files

/// The destination of a new file, which is written sequentially.
package protocol OrderedFileSink: AnyObject {
  /// Appends bytes to the file.
  func write(_ bytes: [UInt8]) throws(StoreError)
  /// Completes the file, and syncs it if `isSynced` is true.
  func finish(isSynced: Bool) throws(StoreError)
}

/// A writer of the file of an ordered table, in ascending order of the keys.
package struct OrderedFileWriter {
  private let sink: any OrderedFileSink
  private let codec: (any OrderedPageCodec)?
  private let mark: FileMark?
  /// The bytes that have not been written yet.
  private var bytes = OrderedFileFormat.magic
  /// The number of bytes that have been written.
  private var written = 0
  private var levels = [OrderedPageBuilder(level: 0)]
  /// The separator of each level's next page, and the number of keys before it.
  private var starts: [(separator: [UInt8], rank: Int)] = [([], 0)]
  private var count = 0

  /// The number of bytes that are collected before they are written.
  private static let capacity = 512 << 10

  /// Begins a file.
  package init(
    _ sink: any OrderedFileSink, codec: (any OrderedPageCodec)?, mark: FileMark? = nil
  ) {
    (self.sink, self.codec, self.mark) = (sink, codec, mark)
  }

  /// Writes bytes of an earlier file, at the beginning.
  mutating func copyBytes(_ part: [UInt8]) throws(StoreError) {
    bytes = []
    try sink.write(part)
    written += part.count
  }

  /// Continues where an earlier file had its first pages, which have been copied.
  mutating func begin(at place: OrderedFilePlace) {
    assert(written == place.leaf.offset, "other bytes were copied than the pages before a place")
    (levels, count) = (place.levels, place.leaf.rank)
    starts = zip(place.separators, place.ranks).map { ($0, $1) }
    // A level begins with its first page.
    while levels.count > 1, levels[levels.count - 1].count == 0 {
      levels.removeLast()
      starts.removeLast()
    }
  }

  /// Appends a key, which must be greater than all before it.
  package mutating func append(_ key: RawSpan, _ value: RawSpan) throws(StoreError) {
    if !levels[0].add(key, value) {
      try endPage(0, before: key)
      _ = levels[0].add(key, value)
    }
    count += 1
  }

  /// Writes the rest of the file.
  package mutating func finish(isSynced: Bool) throws(StoreError) {
    var root = OrderedFileFormat.Child(offset: 0, size: 0, rank: 0)
    var level = 0
    while count > 0 {
      let isRoot = level == levels.count - 1
      let page = try write(level)
      if isRoot {
        root = page
        break
      }
      try add(page, starts[level].separator, to: level + 1)
      level += 1
    }
    let footer = OrderedFileFormat.Footer(
      depth: count == 0 ? 0 : UInt32(levels.count), root: root, count: count)
    bytes += footer.bytes(at: written + bytes.count, mark: mark)
    try sink.write(bytes)
    try sink.finish(isSynced: isSynced)
  }

  // MARK: Pages

  /// Writes the page of a level, and begins the next one with the given first key.
  private mutating func endPage(_ level: Int, before key: RawSpan) throws(StoreError) {
    let separator = levels[level].lendLastKey { last in
      // The separator is as short as possible: it ends with the first byte in which the two keys
      // differ. Separators above level 0 have been shortened already, against keys that are not
      // known here.
      let count = level == 0 ? last.commonPrefixCount(key) + 1 : key.byteCount
      return [UInt8](copying: key.extracting(0..<min(key.byteCount, count)))
    }
    let page = try write(level)
    try add(page, starts[level].separator, to: level + 1)
    starts[level] = (separator ?? [], level == 0 ? count : starts[level].rank)
  }

  private mutating func add(
    _ page: OrderedFileFormat.Child, _ separator: [UInt8], to level: Int
  ) throws(StoreError) {
    if level == levels.count {
      levels.append(OrderedPageBuilder(level: level))
      starts.append(([], 0))
    }
    var value: [UInt8] = []
    value.append(littleEndian: UInt64(page.offset))
    value.append(littleEndian: UInt32(page.size))
    value.append(littleEndian: UInt64(page.rank))
    try separator.lend { (separator) throws(StoreError) in
      try value.lend { (value) throws(StoreError) in
        if levels[level].add(separator, value) { return }
        try endPage(level, before: separator)
        starts[level].rank = page.rank
        _ = levels[level].add(separator, value)
      }
    }
  }

  private mutating func write(_ level: Int) throws(StoreError) -> OrderedFileFormat.Child {
    assert(levels[level].count > 0, "a page without entries")
    assert(starts[level].rank <= count, "a page begins behind all keys")
    let offset = written + bytes.count
    let page = levels[level].takePage()
    let stored = try codec?.seal(page, at: offset) ?? page
    let size = stored.count + OrderedFileFormat.pageHeadSize
    guard let number = UInt32(exactly: size) else {
      throw StoreError(.noSpace, "A key and its value have 4 GiB or more.")
    }
    bytes.append(littleEndian: number)
    bytes.append(littleEndian: OrderedFileFormat.checksum(stored.span, at: offset))
    stored.lend { bytes.append(copying: $0) }
    if bytes.count >= Self.capacity {
      try sink.write(bytes)
      written += bytes.count
      bytes.removeAll(keepingCapacity: true)
    }
    return .init(offset: offset, size: size, rank: starts[level].rank)
  }
}

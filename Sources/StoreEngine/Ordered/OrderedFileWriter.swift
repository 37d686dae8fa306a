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
  private let content: OrderedFileFormat.Content
  /// The bytes that have not been written yet.
  private var bytes = OrderedFileFormat.magic
  /// The number of bytes that have been written.
  private var written = 0
  private var levels = [OrderedPageBuilder(level: 0)]
  /// The separator of each level's next page, the number of keys before it, and their growth.
  private var starts = [Start()]
  /// The number of keys.
  private(set) var count = 0
  /// The number of keys by which the entries of a run make the table larger.
  private(set) var growth = 0
  /// The hashes of a run's keys.
  private var hashes: [UInt64] = []
  /// The seed of these hashes, which is random, so that nobody can prepare collisions.
  private let filterSeed: UInt64
  /// The number of bytes so far, without those of pages that are not full.
  var byteCount: Int { written + bytes.count }

  private struct Start {
    var separator: [UInt8] = []
    var rank = 0
    var growth = 0
  }

  /// The number of bytes that are collected before they are written.
  private static let capacity = 512 << 10

  /// Begins a file.
  package init(
    _ sink: any OrderedFileSink, codec: (any OrderedPageCodec)?, mark: FileMark? = nil,
    content: OrderedFileFormat.Content = .keys,
    filterSeed: UInt64 = .random(in: 0 ... .max)
  ) {
    (self.sink, self.codec, self.mark, self.content) = (sink, codec, mark, content)
    self.filterSeed = filterSeed
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
    starts = zip(place.separators, place.ranks).map { Start(separator: $0, rank: $1) }
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

  /// Appends an entry to a run; its key must be greater than all before it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - entry: The entry, see ``RunEntry``.
  ///   - growth: The number of keys by which it makes the table larger.
  /// - Throws: An error of the destination.
  mutating func append(_ key: RawSpan, entry: RawSpan, growth: Int) throws(StoreError) {
    try append(key, entry)
    self.growth += growth
    hashes.append(key.storedHash(seed: filterSeed))
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
      depth: count == 0 ? 0 : UInt32(levels.count), root: root, count: count, content: content,
      filterSize: try writeFilter())
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
    starts[level].separator = separator ?? []
    if level == 0 { (starts[0].rank, starts[0].growth) = (count, growth) }
  }

  private mutating func add(
    _ page: OrderedFileFormat.Child, _ separator: [UInt8], to level: Int
  ) throws(StoreError) {
    if level == levels.count {
      levels.append(OrderedPageBuilder(level: level))
      starts.append(Start())
    }
    var value: [UInt8] = []
    value.append(littleEndian: UInt64(page.offset))
    value.append(littleEndian: UInt32(page.size))
    value.append(littleEndian: UInt64(page.rank))
    if content == .run { value.append(littleEndian: UInt64(bitPattern: Int64(page.growth))) }
    try separator.lend { (separator) throws(StoreError) in
      try value.lend { (value) throws(StoreError) in
        if levels[level].add(separator, value) { return }
        try endPage(level, before: separator)
        (starts[level].rank, starts[level].growth) = (page.rank, page.growth)
        _ = levels[level].add(separator, value)
      }
    }
  }

  private mutating func write(_ level: Int) throws(StoreError) -> OrderedFileFormat.Child {
    assert(levels[level].count > 0, "a page without entries")
    assert(starts[level].rank <= count, "a page begins behind all keys")
    let size = try write(levels[level].takePage())
    let (offset, start) = (byteCount - size, starts[level])
    try flush()
    return .init(offset: offset, size: size, rank: start.rank, growth: start.growth)
  }

  /// Writes the filter of a run; returns its size, or 0 if it gets none.
  private mutating func writeFilter() throws(StoreError) -> Int {
    guard content == .run, let filter = KeyFilter(hashes: hashes) else { return 0 }
    hashes = []
    let stored = StoredFilter(filter, seed: filterSeed)
    return try write(stored.bytes, OrderedFileFormat.filterPlace)
  }

  /// Adds a page or a filter with its head; returns its size.
  private mutating func write(
    _ page: [UInt8], _ place: (Int) -> Int = { $0 }
  ) throws(StoreError) -> Int {
    let offset = byteCount
    let stored = try codec?.seal(page, at: offset) ?? page
    let size = stored.count + OrderedFileFormat.pageHeadSize
    guard let number = UInt32(exactly: size) else {
      throw StoreError(.noSpace, "A key and its value have 4 GiB or more.")
    }
    bytes.append(littleEndian: number)
    bytes.append(littleEndian: OrderedFileFormat.checksum(stored.span, at: place(offset)))
    stored.lend { bytes.append(copying: $0) }
    return size
  }

  private mutating func flush() throws(StoreError) {
    if bytes.count < Self.capacity { return }
    try sink.write(bytes)
    written += bytes.count
    bytes.removeAll(keepingCapacity: true)
  }
}

import Files

// The pages before the first change of a table are the same in its next file, byte for byte and at
// the same offsets. They are copied, so that adding to the end of a large table, as a history does,
// takes little more than copying its file.
extension OrderedFileWriter {
  /// Writes all keys of a table whose file has the codec of the new one.
  ///
  /// Complexity: linear in the size of the file. Of pages before the first change, only the
  /// checksums are computed.
  ///
  /// - Throws: ``StoreError`` with `damaged`, or an error of the destination.
  mutating func append(_ view: OrderedView) throws(StoreError) {
    var start: [UInt8] = []
    // Without removals, the keys of the page in which the first change belongs remain, so that it is
    // not empty.
    if let file = view.base?.file, !view.hasRemovals, let first = view.firstChangedKey {
      start = try first.lend { (key) throws(StoreError) in try copy(file, before: key) } ?? []
    }
    try view.scanOnce(from: start) { (key, value) throws(StoreError) in try append(key, value) }
  }

  /// Copies the part of an earlier file that a first change leaves as it is.
  ///
  /// The checksums of the copied pages are verified.
  ///
  /// - Parameters:
  ///   - file: A file of the same table with the same codec.
  ///   - key: The key of the first change.
  /// - Returns: The key from which on keys have to be appended; nil if nothing was copied.
  /// - Throws: ``StoreError`` with `damaged`, or an error of the destination.
  private mutating func copy(
    _ file: OrderedFile, before key: RawSpan
  ) throws(StoreError) -> [UInt8]? {
    guard let place = try file.place(of: key) else { return nil }
    let chunk = 512 << 10
    for start in stride(from: 0, to: place.leaf.offset, by: chunk) {
      let part = start..<min(start + chunk, place.leaf.offset)
      try copyBytes(file.file.withBytes { [UInt8](copying: $0.extracting(part)) })
    }
    begin(at: place)
    return place.separators[0]
  }
}

/// The pages on the way from the root of a file to a leaf, without what follows the leaf.
struct OrderedFilePlace {
  var leaf: OrderedFileFormat.Child
  /// The entries before the way, by level; level 0 has none.
  var levels = [OrderedPageBuilder(level: 0)]
  /// The separators of the pages on the way, and the numbers of keys before them, by level.
  var separators: [[UInt8]] = []
  var ranks: [Int] = []
}

extension OrderedFile {
  /// Returns the place of the leaf that a key belongs to; nil for the first leaf, and for one that
  /// begins an index page.
  ///
  /// Verifies all pages before the leaf.
  fileprivate func place(of key: RawSpan) throws(StoreError) -> OrderedFilePlace? {
    if footer.depth < 2 { return nil }
    var place = OrderedFilePlace(leaf: footer.root)
    var above: [OrderedPageBuilder] = []
    var separators: [[UInt8]] = [[]]
    var ranks = [0]
    for level in (1..<Int(footer.depth)).reversed() {
      let (builder, separator, child) = try withPage(place.leaf, level: level) { page, bytes in
        try step(to: key, from: page, bytes)
      }
      // The index page before this one is written when the next entry does not fit into it: after
      // the leaf, so that it would not be copied.
      if builder.count == 0, child.rank > 0 { return nil }
      above.append(builder)
      separators.append(separator)
      ranks.append(child.rank)
      place.leaf = child
    }
    if place.leaf.offset == OrderedFileFormat.magicSize { return nil }
    try verifyPages(before: place.leaf.offset)
    place.levels += above.reversed()
    (place.separators, place.ranks) = (separators.reversed(), ranks.reversed())
    return place
  }

  /// Returns the entries before the one that leads to a key, and that one.
  private func step(
    to key: RawSpan, from page: OrderedPage, _ bytes: RawSpan
  ) throws(OrderedPage.Damage) -> (OrderedPageBuilder, [UInt8], Child) {
    let index = max(0, try page.bound(key, passingEqual: true, bytes) - 1)
    var builder = OrderedPageBuilder(level: page.level)
    var separator: [UInt8] = []
    for entry in 0...index {
      let (rest, value) = try page.entry(entry, bytes)
      separator.replaceAll(from: 0, copying: bytes.extracting(page.prefix))
      separator.append(copying: bytes.extracting(rest))
      if entry < index { _ = separator.lend { builder.add($0, bytes.extracting(value)) } }
    }
    return (builder, separator, try page.child(index, bytes))
  }

  /// Verifies the checksums of the pages before an offset, which follow each other.
  private func verifyPages(before end: Int) throws(StoreError) {
    try file.withBytes { (bytes) throws(StoreError) in
      var offset = OrderedFileFormat.magicSize
      while offset < end {
        let size = Int(bytes.loadUInt32(at: offset, isBigEndian: false))
        _ = try check(Child(offset: offset, size: size, rank: 0), bytes)
        offset += size
      }
      if offset > end { throw damage("Two pages overlap", at: end) }
    }
  }
}

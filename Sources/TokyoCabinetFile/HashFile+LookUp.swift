import Files

extension HashFile {
  /// Calls a closure with the value of a key.
  ///
  /// Complexity: constant time on average; the depth of one bucket's tree.
  ///
  /// - Returns: The result of the closure; nil if there is no such key.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`, or an error of the
  ///   closure.
  public func withValue<Result>(
    forKey key: RawSpan, _ body: (_ value: RawSpan) throws -> Result
  ) throws -> Result? {
    try file.withBytes { bytes in
      guard let record = try find(key, in: bytes) else { return nil }
      defer { file.releaseIfLarge(record.value) }
      return isCompressed
        ? try withPlainValue(record, bytes, body) : try body(bytes.extracting(record.value))
    }
  }

  /// Returns a copy of the value of a key; nil if there is no such key.
  ///
  /// Complexity: constant time on average, and linear in the size of the value.
  ///
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`.
  public func value(forKey key: [UInt8]) throws -> [UInt8]? {
    try key.lend { try withValue(forKey: $0) { [UInt8](copying: $0) } }
  }

  /// Appends a copy of the value of a key to bytes; returns false if there is no such key.
  package func copyValue(
    forKey key: RawSpan, to copy: inout [UInt8]
  ) throws(HashFileError) -> Bool {
    try file.withBytes { (bytes) throws(HashFileError) in
      guard let record = try find(key, in: bytes) else { return false }
      defer { file.releaseIfLarge(record.value) }
      if isCompressed {
        copy.append(contentsOf: try plainValue(record, bytes))
      } else {
        copy.append(copying: bytes.extracting(record.value))
      }
      return true
    }
  }

  /// Returns whether a key has a record.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``HashFileError`` with `damaged`.
  public func contains(_ key: RawSpan) throws -> Bool {
    try file.withBytes { try find(key, in: $0) != nil }
  }

  /// Finds a key in the tree of its bucket (`tchdbgetimpl`).
  ///
  /// The left side has greater second hashes, and greater keys with the same second hash. A cycle
  /// of links is detected by meeting a record again: the last of those at steps 1, 2, 4, 8 and so
  /// on (Brent's algorithm).
  private func find(
    _ key: RawSpan, in bytes: RawSpan
  ) throws(HashFileError) -> HashFileBlock? {
    try find(HashFileFormat.hashes(of: key), in: bytes) { record in
      HashFileFormat.compare(key, bytes.extracting(record.key))
    }
  }

  /// Finds the record of a row, whose key has 4 bytes, least significant first.
  func find(row: UInt32, in bytes: RawSpan) throws(HashFileError) -> HashFileBlock? {
    if let record = guided(to: row, in: bytes) { return record }
    let record = try findInTree(row, in: bytes)
    noteLookUp(of: row, in: bytes)
    return record
  }

  /// Finds the record of a row by its bucket.
  func findInTree(_ row: UInt32, in bytes: RawSpan) throws(HashFileError) -> HashFileBlock? {
    let word = row.byteSwapped
    return try find(HashFileFormat.hashes(ofBigEndian: word), in: bytes) { record in
      Self.order(of: word, record, bytes)
    }
  }

  /// Compares the key of a row with that of a record, see ``HashFileFormat/compare(_:_:)``.
  @inline(__always)
  static func order(of word: UInt32, _ record: HashFileBlock, _ bytes: RawSpan) -> Int {
    if record.keyCount != 4 { return 4 - record.keyCount }
    return Int(word) - Int(bytes.loadUInt32(at: record.keyStart, isBigEndian: true))
  }

  /// Finds any key; the closure compares it with the key of a record.
  @inline(__always)
  private func find(
    _ hashes: (first: UInt64, second: UInt8), in bytes: RawSpan,
    _ compare: (HashFileBlock) -> Int
  ) throws(HashFileError) -> HashFileBlock? {
    let geometry = geometry
    var offset = geometry.root(ofBucket: hashes.first % geometry.bucketCount, in: bytes)
    var (seen, steps, limit) = (0, 0, 1)
    while offset != 0 {
      if offset == seen { throw damaged("the links of records form a cycle", offset) }
      steps += 1
      if steps == limit { (seen, limit) = (offset, limit * 2) }
      if let record = try step(&offset, hashes.second, bytes, compare) { return record }
    }
    return nil
  }

  /// Visits one record of a tree, and advances the offset to the next one, or to 0 after the last.
  ///
  /// - Returns: The record, if it has the wanted key.
  @inline(__always)
  func step(
    _ offset: inout Int, _ secondHash: UInt8, _ bytes: RawSpan, _ compare: (HashFileBlock) -> Int
  ) throws(HashFileError) -> HashFileBlock? {
    try checkRecord(at: offset, bytes)
    // Most records on the path differ in the second hash, so their sizes and keys are not read.
    let other = bytes.loadByte(at: offset + 1)
    var isLeft = secondHash > other
    if secondHash == other {
      let record = try block(in: bytes, at: offset)
      let order = compare(record)
      if order == 0 { return record }
      isLeft = order > 0
    }
    let link = isLeft ? geometry.left(offset) : geometry.right(offset)
    offset = geometry.offset(in: bytes, at: link)
    return nil
  }

  /// Throws unless a record, or at least its links, can be at an offset.
  @inline(__always)
  private func checkRecord(at offset: Int, _ bytes: RawSpan) throws(HashFileError) {
    guard offset >= geometry.first, offset <= geometry.end - geometry.leastRecordSize else {
      throw damaged(HashFileBlock.Fault.outOfFile.message, offset)
    }
    let mark = bytes.loadByte(at: offset)
    guard mark == HashFileFormat.recordMark else {
      let isFree = mark == HashFileFormat.freeBlockMark
      throw damaged(
        isFree ? "a link leads to a free block" : HashFileBlock.Fault.unknownMark.message, offset)
    }
  }
}

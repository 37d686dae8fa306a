import Files

extension HashFile {
  /// Lends the value of a key to a closure.
  ///
  /// Complexity: constant time on average; the depth of one bucket's tree.
  ///
  /// - Returns: what the closure returns; nil when there is no such key.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`; what the closure throws.
  public func withValue<Result>(
    forKey key: RawSpan, _ body: (_ value: RawSpan) throws -> Result
  ) throws -> Result? {
    try file.withBytes { bytes in
      guard let record = try find(key, in: bytes) else { return nil }
      return isCompressed
        ? try withPlainValue(record, bytes, body) : try body(bytes.extracting(record.value))
    }
  }

  /// A copy of the value of a key; nil when there is no such key.
  ///
  /// Complexity: constant time on average, and linear in the size of the value.
  ///
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`.
  public func value(forKey key: [UInt8]) throws -> [UInt8]? {
    try key.lend { try withValue(forKey: $0) { [UInt8](copying: $0) } }
  }

  /// Whether there is a record of a key.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``HashFileError`` with `damaged`.
  public func contains(_ key: RawSpan) throws -> Bool {
    try file.withBytes { try find(key, in: $0) != nil }
  }

  /// Follows the tree of the key's bucket (`tchdbgetimpl`).
  ///
  /// To the left are greater second hashes, and greater keys of the same; a circle of links is noticed
  /// by meeting a record again, the last of those at steps 1, 2, 4, 8 and so on (Brent).
  private func find(
    _ key: RawSpan, in bytes: RawSpan
  ) throws(HashFileError) -> HashFileBlock? {
    let hashes = HashFileFormat.hashes(of: key)
    var offset = geometry.root(ofBucket: hashes.first % geometry.bucketCount, in: bytes)
    var (seen, steps, limit) = (0, 0, 1)
    while offset != 0 {
      if offset == seen { throw damaged("the links of records lead in a circle", offset) }
      steps += 1
      if steps == limit { (seen, limit) = (offset, limit * 2) }
      let record = try block(in: bytes, at: offset)
      guard record.isRecord else {
        throw damaged("a link leads to a free block", offset)
      }
      let order = compare(hashes.second, key, record, bytes)
      if order == 0 { return record }
      let link = order > 0 ? geometry.left(offset) : geometry.right(offset)
      offset = geometry.offset(in: bytes, at: link)
    }
    return nil
  }

  /// Whether a key comes before a record, is its own, or comes behind it.
  @inline(__always)
  private func compare(
    _ hash: UInt8, _ key: RawSpan, _ record: HashFileBlock, _ bytes: RawSpan
  ) -> Int {
    let other = bytes.loadByte(at: record.offset + 1)
    if hash != other { return Int(hash) - Int(other) }
    return HashFileFormat.compare(key, bytes.extracting(record.key))
  }
}

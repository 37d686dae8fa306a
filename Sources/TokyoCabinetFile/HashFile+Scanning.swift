import Files

extension HashFile {
  /// Whether a scan goes on.
  public enum ScanStep: Sendable {
    /// Go on with the next record.
    case next
    /// Stop behind this record.
    case pause
  }

  /// Lends all records, in the order of the file.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Parameter body: Gets a key and a value, where the file has them; they are valid only inside.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`; what the body throws.
  public func forEach(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void) throws {
    _ = try scan { key, value in
      try body(key, value)
      return .next
    }
  }

  /// Lends records in the order of the file, until the body has had enough.
  ///
  /// Complexity: linear in the size of what is scanned.
  ///
  /// - Parameters:
  ///   - position: Where an earlier scan of the same file has stopped; nil is the beginning.
  ///   - body: Gets a key and a value, where the file has them; they are valid only inside.
  /// - Returns: where to go on; nil at the end of the file.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`; what the body throws.
  public func scan(
    from position: Int? = nil, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> Int? {
    try file.withBytes { bytes in
      var offset = position ?? geometry.first
      let isPlain = !isCompressed
      while offset < geometry.end {
        let block = try block(in: bytes, at: offset)
        offset = block.end
        guard block.isRecord else { continue }
        let key = bytes.extracting(block.key)
        let step =
          isPlain
          ? try body(key, bytes.extracting(block.value))
          : try withPlainValue(block, bytes) { try body(key, $0) }
        if step == .pause { return offset }
      }
      return nil
    }
  }

  /// Lends the keys of all records, in the order of the file; of any compression.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Parameter body: Gets a key, which is valid only inside.
  /// - Throws: ``HashFileError`` with `damaged`; what the body throws.
  public func forEachKey(_ body: (_ key: RawSpan) throws -> Void) throws {
    try file.withBytes { bytes in
      var offset = geometry.first
      while offset < geometry.end {
        let block = try block(in: bytes, at: offset)
        offset = block.end
        if block.isRecord { try body(bytes.extracting(block.key)) }
      }
    }
  }

  /// Lends a value as it was before it was compressed.
  func withPlainValue<Result>(
    _ block: HashFileBlock, _ bytes: RawSpan, _ body: (RawSpan) throws -> Result
  ) throws -> Result {
    guard isCompressed else { return try body(bytes.extracting(block.value)) }
    return try plainValue(block, bytes).lend(body)
  }

  /// A compressed value as it was before.
  func plainValue(_ block: HashFileBlock, _ bytes: RawSpan) throws(HashFileError) -> [UInt8] {
    guard header.options.isDisjoint(with: [.bzip, .tcbs, .ownCodec]) else {
      throw HashFileError(
        .unsupportedCompression,
        "the values are compressed with \(compressionName), which only the C library can undo",
        path: path, offset: block.offset)
    }
    let value = bytes.extracting(block.value)
    guard let plain = Deflate.inflated(value, limit: HashFileFormat.recordLimit) else {
      throw damaged("a compressed value can't be decompressed", block.offset)
    }
    return plain
  }

  private var compressionName: String {
    if header.options.contains(.bzip) { return "bzip2" }
    return header.options.contains(.tcbs) ? "Tokyo Cabinet's block sort" : "a program's own codec"
  }
}

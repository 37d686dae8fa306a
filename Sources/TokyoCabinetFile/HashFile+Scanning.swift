import Files

extension HashFile {
  /// The decision whether a scan continues.
  public enum ScanStep: Sendable {
    /// Continue with the next record.
    case next
    /// Stop after this record.
    case pause
  }

  /// Calls a closure with all records, in the order of the file.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Parameter body: Called with a key and a value in place; they are valid only during the call.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`, or an error of the
  ///   closure.
  public func forEach(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void) throws {
    _ = try scan { key, value in
      try body(key, value)
      return .next
    }
  }

  /// Calls a closure with records in the order of the file, until it pauses.
  ///
  /// Complexity: linear in the size of the scanned part.
  ///
  /// - Parameters:
  ///   - position: The position at which an earlier scan of the same file stopped; nil for the
  ///     beginning.
  ///   - body: Called with a key and a value in place; they are valid only during the call.
  /// - Returns: The position to continue at; nil at the end of the file.
  /// - Throws: ``HashFileError`` with `damaged` or `unsupportedCompression`, or an error of the
  ///   closure.
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

  /// Calls a closure with the keys of all records, in the order of the file, with any compression.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Parameter body: Called with a key, which is valid only during the call.
  /// - Throws: ``HashFileError`` with `damaged`, or an error of the closure.
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

  /// Calls a closure with a value, decompressed if necessary.
  func withPlainValue<Result>(
    _ block: HashFileBlock, _ bytes: RawSpan, _ body: (RawSpan) throws -> Result
  ) throws -> Result {
    guard isCompressed else { return try body(bytes.extracting(block.value)) }
    return try plainValue(block, bytes).lend(body)
  }

  /// Returns a compressed value in its original form.
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

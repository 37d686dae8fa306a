extension HashDatabase {
  /// The maximum size of the file: the range of its 32-bit offsets, times the alignment.
  ///
  /// Beyond it the library would write damaged offsets without an error. So every write that could
  /// exceed it throws `fileTooLarge`. A file with the option `large` has no limit.
  ///
  /// - Throws: ``TokyoCabinetError`` with `closed`.
  public var fileSizeLimit: UInt64 {
    get throws {
      try checkOpen("fileSizeLimit")
      return limit(options: Tuning.Options(rawValue: handle.options), alignment: handle.alignment)
    }
  }

  private func limit(options: Tuning.Options, alignment: UInt32) -> UInt64 {
    if options.contains(.large) { return UInt64(Int64.max) }
    let testLimit = testedSizeLimit
    return testLimit > 0 ? testLimit : (1 << 32) * UInt64(alignment)
  }

  /// Throws, before anything is written, if a record has no room in the file or on the disk.
  func makeRoom(_ keySize: Int, _ valueSize: Int, _ operation: String) throws {
    guard keySize <= Self.recordSizeLimit, valueSize <= Self.recordSizeLimit - keySize else {
      throw error(.recordTooLarge, operation, "a record may not be larger than 512 MiB")
    }
    let (size, options, alignment) = handle.layout
    let growth = Self.recordBound(keySize, valueSize, options, alignment)
    guard size + growth <= limit(options: options, alignment: alignment) else {
      throw error(
        .fileTooLarge, operation,
        "the file could grow past what it can address; rebuild it with optimize and option large")
    }
    try handle.reserve(growth)
  }

  /// Returns the most that a record can add to a file: header, padding, and useless compression.
  package static func recordBound(
    _ keySize: Int, _ valueSize: Int, _ options: Tuning.Options, _ alignment: UInt32
  ) -> UInt64 {
    let value = options.isDisjoint(with: .compressed) ? valueSize : valueSize * 2 + 1024
    return UInt64(keySize + value) + 48 + 2 * UInt64(alignment)
  }

  /// Throws if the records don't fit into a file of another layout.
  func checkRoom(for tuning: Tuning) throws {
    if tuning.options.contains(.large) { return }
    let alignment = UInt32(1) << UInt32(clamping: tuning.alignmentPower)
    let pool = UInt64(4) << UInt64(clamping: tuning.freeBlockPower)
    var size = UInt64(clamping: tuning.bucketCount) &* 5 + 4096 + pool
    try handle.forEach { key, value in
      size += Self.recordBound(key.byteCount, value.byteCount, tuning.options, alignment)
    }
    guard size <= limit(options: tuning.options, alignment: alignment) else {
      throw error(.fileTooLarge, "optimize", "the records need a larger alignment or option large")
    }
  }
}

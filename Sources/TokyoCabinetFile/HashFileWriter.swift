import Files

/// Writes a whole hash file, record after record, which the C library can read and change then.
///
///     let writer = try HashFileWriter("Song", layout: HashFileLayout(bucketCount: 400_000))
///     try writer.append(key: key, value: value)    // as often as there are records
///     try writer.finish(synchronized: true)
///
/// Records stand in the file in the order in which they came, without gaps. The trees of the buckets
/// are made at the end, balanced, and the links written into the records then: the file is written from
/// its first byte to its last, and where it is larger than the buffer it is gone through once more.
/// The header is written last, so that a file that was not finished is no hash file.
///
/// A writer that ends before ``finish(synchronized:)`` has succeeded removes its file.
///
/// For one thread at a time.
public final class HashFileWriter {
  /// The file.
  public let path: String
  /// The layout of the file.
  public let layout: HashFileLayout
  /// The number of records so far.
  public var count: Int { entries.count }
  /// The size of the file so far.
  public var fileSize: Int { image.end }

  /// Where things go: the end of the file in memory, what is before it on the disk.
  var image: HashFileImage
  var entries: [Entry] = []

  /// What is known of a record, to find its place among others of its bucket.
  struct Entry {
    /// Second hash, size of the key up to 255, and the first 6 bytes of the key: its order among the
    /// records of the bucket, as far as that goes.
    let order: UInt64
    let offset: Int
    let bucket: UInt32
  }

  /// Makes a new file.
  ///
  /// - Parameters:
  ///   - path: The file, which must not exist.
  ///   - layout: How it is laid out.
  /// - Throws: ``HashFileError`` with `invalidLayout`, `noFile` (no such directory), `noPermission`,
  ///   `ioError` (there is such a file, or another failure), or `noSpace`.
  public convenience init(_ path: String, layout: HashFileLayout) throws(HashFileError) {
    try layout.check(path)
    let descriptor = try hashFileErrors { () throws(SystemError) in try createFile(path) }
    self.init(path, layout, HashFileImage(path, descriptor, start: layout.first))
  }

  private init(_ path: String, _ layout: HashFileLayout, _ image: HashFileImage) {
    self.path = path
    self.layout = layout
    self.image = image
  }

  /// The bytes of a file with some records.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``HashFileError`` with `invalidLayout`, `duplicateKey` or `tooLarge`.
  public static func bytes(
    layout: HashFileLayout, records: [(key: [UInt8], value: [UInt8])]
  ) throws(HashFileError) -> [UInt8] {
    try layout.check("memory")
    let image = HashFileImage("memory", nil, start: layout.first)
    let writer = HashFileWriter("memory", layout, image)
    for record in records { try writer.append(key: record.key, value: record.value) }
    let start = try writer.complete()
    return start + writer.image.tail
  }

  deinit { image.abandon() }

  /// Appends a record.
  ///
  /// Complexity: linear in the size of the record. Memory: 24 bytes a record; while finishing, 36.
  ///
  /// - Throws: ``HashFileError`` with `tooLarge`, when the record is larger than 512 MiB or the file
  ///   would be larger than the layout allows; `noSpace` or `ioError`.
  /// - Precondition: the file is not finished.
  public func append(key: [UInt8], value: [UInt8]) throws(HashFileError) {
    try key.lend { (key) throws(HashFileError) in
      try value.lend { (value) throws(HashFileError) in try append(key: key, value: value) }
    }
  }

  /// Appends a record, whose bytes are lent.
  ///
  /// Complexity: linear in the size of the record. Memory: 24 bytes a record; while finishing, 36.
  ///
  /// - Throws: ``HashFileError`` with `tooLarge`, when the record is larger than 512 MiB or the file
  ///   would be larger than the layout allows; `noSpace` or `ioError`.
  /// - Precondition: the file is not finished.
  public func append(key: RawSpan, value: RawSpan) throws(HashFileError) {
    precondition(!image.isFinished, "a record for a file that is finished")
    guard layout.options.contains(.deflate) else { return try appendPlain(key, value) }
    guard value.byteCount <= HashFileFormat.recordLimit, let small = Deflate.deflated(value) else {
      throw tooLarge("a value can't be compressed")
    }
    try small.lend { (small) throws(HashFileError) in try appendPlain(key, small) }
  }

  private func appendPlain(_ key: RawSpan, _ value: RawSpan) throws(HashFileError) {
    let (keyCount, valueCount) = (key.byteCount, value.byteCount)
    guard keyCount <= HashFileFormat.recordLimit,
      valueCount <= HashFileFormat.recordLimit - keyCount
    else { throw tooLarge("a record may not be larger than 512 MiB") }
    let offset = image.end
    let head =
      4 + 2 * layout.width + HashFileFormat.width(ofSize: keyCount)
      + HashFileFormat.width(ofSize: valueCount)
    let end = layout.aligned(offset + head + keyCount + valueCount)
    guard end <= layout.sizeLimit, entries.count < UInt32.max - 1 else {
      throw tooLarge("the file would be larger than its offsets can address: use the option large")
    }
    let padding = end - offset - head - keyCount - valueCount
    let hashes = HashFileFormat.hashes(of: key)
    entries.append(
      Entry(
        order: Self.order(hashes.second, key), offset: offset,
        bucket: UInt32(hashes.first % UInt64(layout.bucketCount))))
    image.tail.append(record: hashes.second, key, value, padding: padding, layout)
    try image.flushIfFull()
  }

  /// The first 8 bytes of what decides on the place of a key.
  private static func order(_ hash: UInt8, _ key: RawSpan) -> UInt64 {
    var order = UInt64(hash) << 56 | UInt64(min(key.byteCount, 255)) << 48
    for index in 0..<min(key.byteCount, 6) {
      order |= UInt64(key.loadByte(at: index)) << UInt64(40 - 8 * index)
    }
    return order
  }

  /// Makes the trees, and writes what is not written yet, the header last.
  ///
  /// Whoever renames the file or makes others rely on it has it synchronized, and synchronizes the
  /// directory himself.
  ///
  /// Complexity: O(n log k) for n records, k of them in the fullest bucket; linear in the size of the
  /// file.
  ///
  /// - Parameter synchronized: Whether the file is brought to the disk before this returns.
  /// - Throws: ``HashFileError`` with `duplicateKey`, `noSpace` or `ioError`. The file is removed then.
  /// - Precondition: the file is not finished.
  public func finish(synchronized: Bool) throws(HashFileError) {
    precondition(!image.isFinished, "a file that is finished already")
    do {
      let start = try complete()
      try image.finish(start, synchronized: synchronized)
    } catch {
      image.abandon()
      throw error
    }
  }

  func tooLarge(_ message: String) -> HashFileError {
    HashFileError(.tooLarge, message, path: path, offset: image.end)
  }
}

extension [UInt8] {
  /// Appends a record without links (`tchdbwriterec`).
  fileprivate mutating func append(
    record hash: UInt8, _ key: RawSpan, _ value: RawSpan, padding: Int, _ layout: HashFileLayout
  ) {
    append(HashFileFormat.recordMark)
    append(hash)
    for _ in 0..<2 * layout.width { append(0) }
    let (high, low) = (UInt8(padding >> 8), UInt8(truncatingIfNeeded: padding))
    append(layout.byteOrder == .big ? high : low)
    append(layout.byteOrder == .big ? low : high)
    append(size: key.byteCount)
    append(size: value.byteCount)
    append(copying: key)
    append(copying: value)
    for _ in 0..<padding { append(0) }
  }
}

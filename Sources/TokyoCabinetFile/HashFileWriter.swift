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
  public var count: Int { builder.entries.count }
  /// The size of the file so far.
  public var fileSize: Int { builder.image.end }

  /// One value, so that a record is one access to it.
  private var builder: HashFileBuilder

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
    self.init(path, layout, descriptor)
  }

  private init(_ path: String, _ layout: HashFileLayout, _ descriptor: Int32?) {
    self.path = path
    self.layout = layout
    builder = HashFileBuilder(path, layout, descriptor)
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
    let writer = HashFileWriter("memory", layout, nil)
    for record in records { try writer.append(key: record.key, value: record.value) }
    let start = try writer.builder.complete()
    return start + writer.builder.image.tail
  }

  deinit { builder.image.abandon() }

  /// Appends a record.
  ///
  /// Complexity: linear in the size of the record. Memory: 24 bytes a record; while finishing, 48.
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
  /// Complexity: linear in the size of the record. Memory: 24 bytes a record; while finishing, 48.
  ///
  /// - Throws: ``HashFileError`` with `tooLarge`, when the record is larger than 512 MiB or the file
  ///   would be larger than the layout allows; `noSpace` or `ioError`.
  /// - Precondition: the file is not finished.
  public func append(key: RawSpan, value: RawSpan) throws(HashFileError) {
    try builder.append(key, value)
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
    precondition(!builder.image.isFinished, "a file that is finished already")
    do {
      let start = try builder.complete()
      try builder.image.finish(start, synchronized: synchronized)
    } catch {
      builder.image.abandon()
      throw error
    }
  }
}

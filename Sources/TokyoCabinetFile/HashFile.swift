package import Files

/// A hash database file of Tokyo Cabinet, mapped into memory for reading without the C library.
///
///     let songs = try HashFile("Song")
///     try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
///     let title = try songs.value(forKey: [2, 0, 0, 0])
///
/// It reads files of either byte order, with 32-bit and 64-bit offsets, and of any alignment.
/// Values compressed with Deflate are decompressed. With bzip2 and the library's own compression
/// only the keys are readable.
///
/// Nothing in the file is trusted: every offset, size and link is checked before it is followed. A
/// damaged file results in a ``HashFileError`` with the place. It can't end the process, make a
/// call run forever, or cause reads outside of the file.
///
/// The object always reads the file that had the name when it was opened. While it is open, no
/// process may truncate the file: see <doc:HashFileFormat>. The file is never written to.
///
/// Safe on any thread; calls never wait for each other.
public final class HashFile: Sendable {
  /// The path by which it was opened.
  public let path: String
  /// The header.
  public let header: HashFileHeader
  let file: MappedFile
  let geometry: HashFileGeometry
  /// Leads to the records of rows in a large file; nil for others.
  let guide: RowGuide?

  /// Opens a regular file.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``HashFileError`` with `noFile`, `noPermission`, `ioError`, `notAHashFile`,
  ///   `truncated` or `damaged`.
  public convenience init(_ path: String) throws(HashFileError) { try self.init(path.location) }

  /// Opens a regular file, which may be in an open directory.
  package convenience init(_ location: FileLocation) throws(HashFileError) {
    let file = try hashFileErrors { () throws(SystemError) in try MappedFile(location) }
    try self.init(file)
  }

  /// Reads bytes like a file.
  ///
  /// Complexity: linear in the number of bytes, which are copied.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - path: The path for errors.
  /// - Throws: ``HashFileError`` with `notAHashFile`, `truncated` or `damaged`.
  public convenience init(bytes: [UInt8], path: String = "memory") throws(HashFileError) {
    try self.init(MappedFile(copying: bytes, path: path))
  }

  /// Reads a file that is already mapped.
  package init(_ file: MappedFile) throws(HashFileError) {
    self.file = file
    path = file.path
    guard let header = HashFileHeader(file) else {
      throw HashFileError(
        .notAHashFile, "there is no valid header of a hash file", path: file.path)
    }
    self.header = header
    geometry = try HashFileGeometry(header, size: file.count, path: file.path)
    guide = Self.makeGuide(header, geometry)
  }

  /// The number of records according to the header.
  public var count: Int { Int(clamping: header.recordCount) }
  /// The size of the file in bytes.
  public var fileSize: Int { file.count }
  /// Whether the values are compressed, by any method.
  public var isCompressed: Bool { !header.options.isDisjoint(with: .compressed) }

  func damaged(_ message: String, _ offset: Int) -> HashFileError {
    HashFileError(.damaged, message, path: path, offset: offset)
  }
}

/// The geometry of a file, from a header that was found to be possible.
struct HashFileGeometry: Sendable {
  /// Whether numbers are big-endian.
  let isBigEndian: Bool
  /// Whether offsets have 8 bytes instead of 4.
  let isLarge: Bool
  /// The alignment as a power of two, by which offsets in the file are divided.
  let alignmentPower: UInt64
  let bucketCount: UInt64
  /// The offset of the first block, if there is one.
  let first: Int
  /// The end of the last block.
  let end: Int

  /// The number of bytes of an offset.
  @inline(__always) var width: Int { isLarge ? 8 : 4 }
  /// The size of a record without key and value: mark, second hash, links, three sizes.
  @inline(__always) var leastRecordSize: Int { 6 + 2 * width }
  /// The offset of the free-block pool.
  var pool: Int { HashFileHeader.size + Int(bucketCount) * width }

  init(_ header: HashFileHeader, size: Int, path: String) throws(HashFileError) {
    guard header.type == 0 else {
      throw HashFileError(
        .notAHashFile, "this is a Tokyo Cabinet file of another kind, \(header.type)", path: path,
        offset: 32)
    }
    guard header.fileSize <= UInt64(size) else {
      throw HashFileError(
        .truncated, "the file has been cut off: \(size) of \(header.fileSize) bytes are left",
        path: path, offset: size)
    }
    guard header.alignmentPower <= HashFileFormat.alignmentPowerLimit else {
      throw HashFileError(
        .damaged, "the alignment power is \(header.alignmentPower)", path: path, offset: 34)
    }
    isBigEndian = header.byteOrder == .big
    isLarge = header.options.contains(.large)
    alignmentPower = UInt64(header.alignmentPower)
    bucketCount = header.bucketCount
    // A valid header has its buckets before the first block, and the first block before the end.
    first = Int(header.firstRecord)
    end = Int(header.fileSize)
  }

  /// Returns the offset in an entry of the bucket array or in a link, in bytes.
  @inline(__always)
  func offset(in bytes: RawSpan, at position: Int) -> Int {
    let number =
      isLarge
      ? bytes.loadUInt64(at: position, isBigEndian: isBigEndian)
      : UInt64(bytes.loadUInt32(at: position, isBigEndian: isBigEndian))
    // A number that would overflow leads out of the file, because no file is so large.
    return number >> 47 == 0 ? Int(number << alignmentPower) : .max
  }

  /// Returns the root of a bucket's tree; 0 for none.
  @inline(__always)
  func root(ofBucket bucket: UInt64, in bytes: RawSpan) -> Int {
    offset(in: bytes, at: HashFileHeader.size + Int(bucket) * width)
  }
}

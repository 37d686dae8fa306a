package import Files

/// A hash database file of Tokyo Cabinet, open for reading: mapped into memory, without the C
/// library.
///
///     let songs = try HashFile("Song")
///     try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
///     let title = try songs.value(forKey: [2, 0, 0, 0])
///
/// Files of either byte order are read, with 32-bit and 64-bit offsets, of any alignment. Values
/// that were compressed with Deflate are lent as they were before; of bzip2 and of the library's
/// own compression only the keys can be read.
///
/// Nothing in the file is believed: every offset, size and link is checked before it is followed. A
/// damaged file gives a ``HashFileError`` that says where; it can't end the process, make a call
/// run for ever, or have memory read that is not the file's.
///
/// The file is that which had the name when it was opened, however long this object lives. While it
/// is open nobody may cut it short: see <doc:HashFileFormat>. The file is never written to.
///
/// Safe on any threads; nobody waits for anybody.
public final class HashFile: Sendable {
  /// The path it was opened by.
  public let path: String
  /// The header.
  public let header: HashFileHeader
  let file: MappedFile
  let geometry: HashFileGeometry

  /// Opens a regular file.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``HashFileError`` with `noFile`, `noPermission`, `ioError`, `notAHashFile`,
  ///   `truncated` or `damaged`.
  public convenience init(_ path: String) throws(HashFileError) { try self.init(path.location) }

  /// Opens a regular file, perhaps one in an open directory.
  package convenience init(_ location: FileLocation) throws(HashFileError) {
    let file = try hashFileErrors { () throws(SystemError) in try MappedFile(location) }
    try self.init(file)
  }

  /// Reads bytes as if they were a file's.
  ///
  /// Complexity: linear in the number of bytes, which are copied.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - path: What errors are to name as the file.
  /// - Throws: ``HashFileError`` with `notAHashFile`, `truncated` or `damaged`.
  public convenience init(bytes: [UInt8], path: String = "memory") throws(HashFileError) {
    try self.init(MappedFile(copying: bytes, path: path))
  }

  /// Reads a file that is mapped already.
  package init(_ file: MappedFile) throws(HashFileError) {
    self.file = file
    path = file.path
    guard let header = HashFileHeader(file) else {
      throw HashFileError(
        .notAHashFile, "there is no header of a hash file that makes sense", path: file.path)
    }
    self.header = header
    geometry = try HashFileGeometry(header, size: file.count, path: file.path)
  }

  /// The number of records, as the header has it.
  public var count: Int { Int(clamping: header.recordCount) }
  /// The size of the file in bytes.
  public var fileSize: Int { file.count }
  /// Whether the values are compressed, in whatever way.
  public var isCompressed: Bool { !header.options.isDisjoint(with: .compressed) }

  func damaged(_ message: String, _ offset: Int) -> HashFileError {
    HashFileError(.damaged, message, path: path, offset: offset)
  }
}

/// Where things are in a file, as a header has it that was found to be possible.
struct HashFileGeometry: Sendable {
  /// Whether numbers have their most significant byte first.
  let isBigEndian: Bool
  /// Whether offsets take 8 bytes, and not 4.
  let isLarge: Bool
  /// Offsets in the file are kept divided by two to this power.
  let alignmentPower: UInt64
  let bucketCount: UInt64
  /// Where the first block is, if there is one.
  let first: Int
  /// Where the last block ends.
  let end: Int

  /// The width of an offset.
  @inline(__always) var width: Int { isLarge ? 8 : 4 }
  /// A record without key and value: mark, second hash, links, three sizes.
  @inline(__always) var leastRecordSize: Int { 6 + 2 * width }
  /// Where the free-block pool begins.
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
    // A header that makes sense has its buckets before the first block, and that before the end.
    first = Int(header.firstRecord)
    end = Int(header.fileSize)
  }

  /// The offset in an entry of the bucket array or a link, in bytes from the file's beginning.
  @inline(__always)
  func offset(in bytes: RawSpan, at position: Int) -> Int {
    let number =
      isLarge
      ? bytes.loadUInt64(at: position, isBigEndian: isBigEndian)
      : UInt64(bytes.loadUInt32(at: position, isBigEndian: isBigEndian))
    // What is shifted out, or makes a negative number, leads out of the file: no file is so large.
    return number >> 47 == 0 ? Int(number << alignmentPower) : .max
  }

  /// The root of the tree of a bucket; 0 is none.
  @inline(__always)
  func root(ofBucket bucket: UInt64, in bytes: RawSpan) -> Int {
    offset(in: bytes, at: HashFileHeader.size + Int(bucket) * width)
  }
}

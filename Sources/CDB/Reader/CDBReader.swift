package import Files
internal import Locks

/// A constant database, open for reading.
///
/// The file is mapped into memory, so that opening takes no time. Values are read in place: a
/// closure gets them as a `RawSpan`, which can't be kept.
///
///     let songs = try CDBReader("Songs.cdb")
///     let length = try songs.withValue(forKey: "song/2") { $0.byteCount }
///     let title = try songs.value(forKey: "song/2").map { String(decoding: $0, as: UTF8.self) }
///     try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
///
/// A key may have several values; look-ups return the first, ``forEachValue(forKey:_:)`` visits
/// all.
///
/// The file is never written to. A reader continues with the file that it has opened when a
/// ``CDBWriter`` replaces it. A program that *truncates* a mapped file ends the processes that read
/// it; no reader can prevent that, and ``CDBWriter`` never does it.
///
/// Safe on any thread.
public final class CDBReader: Sendable {
  /// The path by which it was opened; "memory" for bytes.
  public var path: String { file.path }
  /// The width of the numbers in the file.
  public var format: CDBFormat { layout.format }
  /// The number of records, including several with the same key.
  ///
  /// It is half the number of slots, as in files of every writer of this format; ``verify()``
  /// checks it.
  public var count: Int { layout.slotCount / 2 }
  /// The size of the file in bytes.
  public var byteCount: Int { file.count }

  let file: MappedFile
  let layout: CDBLayout
  let crowds = CDBCrowds([:])

  /// Opens a file.
  ///
  /// Complexity: constant time: the header is verified, and no record is read.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The width of its numbers, which the file itself does not state.
  /// - Throws: ``CDBError`` with `noFile`, `noPermission`, `ioError`, `damaged` or `otherFormat`.
  public convenience init(_ path: String, format: CDBFormat = .classic) throws(CDBError) {
    try self.init(path.location, format: format)
  }

  /// Opens a file, which may be in an open directory.
  package convenience init(
    _ location: FileLocation, format: CDBFormat = .classic
  ) throws(CDBError) {
    let file: MappedFile
    do throws(SystemError) { file = try MappedFile(location) } catch { throw CDBError(error) }
    try self.init(file, format)
  }

  /// Reads bytes like a file.
  ///
  /// Complexity: linear in the number of bytes, which are copied.
  ///
  /// - Throws: ``CDBError`` with `damaged` or `otherFormat`.
  public convenience init(
    copying bytes: [UInt8], format: CDBFormat = .classic
  ) throws(CDBError) {
    try self.init(MappedFile(copying: bytes), format)
  }

  private init(_ file: MappedFile, _ format: CDBFormat) throws(CDBError) {
    self.file = file
    layout = try file.withBytes { (bytes) throws(CDBError) in
      try CDBLayout(bytes, file.path, format)
    }
  }
}

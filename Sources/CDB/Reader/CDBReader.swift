package import Files
internal import Locks

/// A constant database, open for reading.
///
/// The file is mapped into memory, so that opening takes no time, and values are read where they
/// are: they are *lent* to a closure, as `RawSpan`, which can't be kept beyond it.
///
///     let songs = try CDBReader("Songs.cdb")
///     let length = try songs.withValue(forKey: "song/2") { $0.byteCount }
///     let title = try songs.value(forKey: "song/2").map { String(decoding: $0, as: UTF8.self) }
///     try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
///
/// A key may have several values; look-ups give the first, ``forEachValue(forKey:_:)`` gives all.
///
/// The file is never written, and a reader goes on with what it has opened when a ``CDBWriter``
/// puts another file in its place. A program that *cuts* a mapped file ends those that read it; no
/// reader can prevent that, and ``CDBWriter`` never does.
///
/// Safe on any number of threads.
public final class CDBReader: Sendable {
  /// The path it was opened by; "memory" for bytes.
  public var path: String { file.path }
  /// The width of the numbers in the file.
  public var format: CDBFormat { layout.format }
  /// The number of records, several of one key included.
  ///
  /// It is half the number of slots, which every writer of this format makes so; ``verify()``
  /// checks it.
  public var count: Int { layout.slotCount / 2 }
  /// The bytes of the file.
  public var byteCount: Int { file.count }

  let file: MappedFile
  let layout: CDBLayout
  let crowds = CDBCrowds([:])

  /// Opens a file.
  ///
  /// Complexity: constant time: the header is checked, and no record read.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The width of its numbers, which the file itself doesn't say.
  /// - Throws: ``CDBError`` with `noFile`, `noPermission`, `ioError`, `damaged` or `otherFormat`.
  public convenience init(_ path: String, format: CDBFormat = .classic) throws(CDBError) {
    try self.init(path.location, format: format)
  }

  /// Opens a file, perhaps one in an open directory.
  package convenience init(
    _ location: FileLocation, format: CDBFormat = .classic
  ) throws(CDBError) {
    let file: MappedFile
    do throws(SystemError) { file = try MappedFile(location) } catch { throw CDBError(error) }
    try self.init(file, format)
  }

  /// Reads bytes that a file could have.
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

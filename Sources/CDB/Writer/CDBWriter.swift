package import Files

/// A writer of a constant database: add all records, then finish.
///
///     let writer = try CDBWriter("Songs.cdb")
///     try writer.add("Bicycle Race", forKey: "song/2")
///     try writer.add("Walking on Sunshine", forKey: "song/3")
///     try writer.finish()
///
/// The records go to a file with a temporary name beside the final one. ``finish(synchronize:)``
/// syncs and renames it. So there is either the old file or the new one at any time, and readers of
/// the old one are not disturbed. A writer that is released or canceled removes its file. A process
/// that is killed leaves it, as `Songs.cdb.` + 16 hex digits + `.tmp`, and ``removeLeftovers(of:)``
/// removes it.
///
/// It needs 8 bytes of memory per record, or 16 in the wide format, and twice that while the array
/// grows and while the tables are built. It also has a buffer of 256 KiB, and keeps no values.
/// Policies other than ``DuplicatePolicy/add`` need up to 64 bytes per record more, and 32 while
/// these grow.
///
/// Use it from one thread at a time.
public final class CDBWriter {
  /// The path of the final file.
  public var path: String { records.path }
  /// The width of the numbers.
  public var format: CDBFormat { records.format }
  /// The number of records that the file will have.
  public var count: Int { records.count }
  /// The number of bytes that the file will have.
  public var byteCount: Int { records.byteCount }

  // No code of the caller runs while these are being changed, so checking exclusivity at each
  // addition would be of no use.
  @safe @exclusivity(unchecked) var records: CDBNewRecords
  @safe @exclusivity(unchecked) private(set) var isOpen = true

  /// Begins a file.
  ///
  /// Complexity: constant time; creates a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file; an existing file is replaced at the end, and its permissions
  ///     are kept.
  ///   - format: The width of the numbers: ``CDBFormat/wide`` for more than 4 GiB.
  /// - Throws: ``CDBError`` with `noFile` (the directory does not exist), `noPermission`, `noSpace`
  ///   or `ioError`.
  public convenience init(_ path: String, format: CDBFormat = .classic) throws(CDBError) {
    try self.init(path, format: format, in: SystemFiles.shared)
  }

  /// Begins a file in a file system, with a smaller size limit in tests.
  package convenience init(
    _ path: String, format: CDBFormat, sizeLimit: UInt64? = nil, in fileSystem: any FileSystem
  ) throws(CDBError) {
    let target: FileLocation
    do throws(SystemError) {
      target = FileLocation(try Self.target(path, in: fileSystem), in: fileSystem)
    } catch { throw CDBError(error) }
    try self.init(target, format: format, sizeLimit: sizeLimit)
  }

  /// Begins a file, which may be in an open directory.
  ///
  /// - Parameters:
  ///   - target: The location of the file.
  ///   - format: The width of the numbers.
  ///   - rights: The permissions; nil for those of the existing file.
  ///   - sizeLimit: The maximum size.
  /// - Throws: ``CDBError``, as for a path.
  package init(
    _ target: FileLocation, format: CDBFormat, rights: FileRights? = nil, sizeLimit: UInt64? = nil
  ) throws(CDBError) {
    do throws(SystemError) {
      var found = rights
      if found == nil { found = try FileStatus.find(target)?.rights.ofReplacement }
      let output = try CDBOutput(
        Self.temporaryFile(target), rights: found ?? .anyone, from: format.headerSize)
      records = CDBNewRecords(target, format, sizeLimit ?? format.sizeLimit, output)
    } catch { throw CDBError(error) }
  }

  deinit { cancel() }

  /// Cancels the writer, and removes the new file; the old one stays.
  ///
  /// It has no effect if the writer has finished.
  public func cancel() {
    guard isOpen else { return }
    isOpen = false
    try? removeFile(records.output.location)
  }

  @inline(__always)
  func checkOpen() throws(CDBError) {
    if !isOpen { throw closedError }
  }

  private var closedError: CDBError {
    CDBError(.closed, path: path, message: "The writer has finished; make another one.")
  }

  /// Returns the identity of the file with the temporary name.
  func fileIdentity() throws(CDBError) -> FileIdentity? {
    do throws(SystemError) {
      return try FileStatus.find(records.output.location)?.identity
    } catch { throw CDBError(error) }
  }

  /// Marks the writer as finished; its file has been renamed.
  func close() { isOpen = false }
}

package import Files

/// Makes a constant database: add all records, then finish.
///
///     let writer = try CDBWriter("Songs.cdb")
///     try writer.add("Bicycle Race", forKey: "song/2")
///     try writer.add("Walking on Sunshine", forKey: "song/3")
///     try writer.finish()
///
/// The records go to a file of a temporary name beside the one to be made. ``finish(synchronize:)``
/// brings it to the disk and renames it, so that there is the old file or the new one at any time,
/// and readers of the old one are not disturbed. A writer that is dropped or cancelled removes its
/// file; a process that is killed leaves it, as `Songs.cdb.` + 16 hex digits + `.tmp`, and
/// ``removeLeftovers(of:)`` clears it away.
///
/// Memory: 8 bytes a record, 16 in the wide format, twice that while they grow and to make the
/// tables, and a buffer of 256 KiB; values are not kept. Policies other than
/// ``DuplicatePolicy/add`` cost up to 64 bytes a record more, and 32 while these grow.
///
/// One thread at a time.
public final class CDBWriter {
  /// The file to be made.
  public var path: String { records.path }
  /// The width of its numbers.
  public var format: CDBFormat { records.format }
  /// The number of records that it will have.
  public var count: Int { records.count }
  /// The number of bytes that it will have.
  public var byteCount: Int { records.byteCount }

  // Nothing that a caller hands in is called while these are being changed, so that asking at each
  // addition whether it is alone here would be in vain.
  @safe @exclusivity(unchecked) var records: CDBNewRecords
  @safe @exclusivity(unchecked) private(set) var isOpen = true

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - path: The file to be made; one that is there is replaced at the end, and keeps its
  ///     permissions.
  ///   - format: The width of its numbers: ``CDBFormat/wide`` for more than 4 GiB.
  /// - Throws: ``CDBError`` with `noFile` (no such directory), `noPermission`, `noSpace`,
  ///   `ioError`.
  public convenience init(_ path: String, format: CDBFormat = .classic) throws(CDBError) {
    try self.init(path, format: format, in: SystemFiles.shared)
  }

  /// Begins a file of a file system, which is perhaps not to get larger than a test likes.
  package convenience init(
    _ path: String, format: CDBFormat, sizeLimit: UInt64? = nil, in fileSystem: any FileSystem
  ) throws(CDBError) {
    let target: FileLocation
    do throws(SystemError) {
      target = FileLocation(try Self.target(path, in: fileSystem), in: fileSystem)
    } catch { throw CDBError(error) }
    try self.init(target, format: format, sizeLimit: sizeLimit)
  }

  /// Begins a file, perhaps in an open directory.
  ///
  /// - Parameters:
  ///   - target: The file to be made.
  ///   - format: The width of its numbers.
  ///   - rights: Who may use it; nil for those of the file that is there.
  ///   - sizeLimit: How large it may get.
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

  /// Gives up, and removes the new file; the old one stays.
  ///
  /// Harmless when the writer has finished.
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

  /// Which file it is that has the temporary name.
  func fileIdentity() throws(CDBError) -> FileIdentity? {
    do throws(SystemError) {
      return try FileStatus.find(records.output.location)?.identity
    } catch { throw CDBError(error) }
  }

  /// Marks the writer as done; its file has its name.
  func close() { isOpen = false }
}

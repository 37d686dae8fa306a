package import Files

/// Makes a constant database: add all records, then finish.
///
///     let writer = try CDBWriter("Songs.cdb")
///     try writer.add("Bicycle Race", forKey: "song/2")
///     try writer.add("Walking on Sunshine", forKey: "song/3")
///     try writer.finish()
///
/// The records go to a file of a temporary name beside the one to be made. ``finish(synchronize:)``
/// brings it to the disk and renames it, so that there is the old file or the new one at any time, and
/// readers of the old one are not disturbed. A writer that is dropped or cancelled removes its file; a
/// process that is killed leaves it, as `Songs.cdb.` + 16 hex digits + `.tmp`.
///
/// Memory: 16 bytes a record, twice that while they grow, and a buffer of 256 KiB; values are not kept.
/// Policies other than ``DuplicatePolicy/add`` cost up to 64 bytes a record more.
///
/// One thread at a time.
public final class CDBWriter {
  /// The file to be made.
  public let path: String
  /// The width of its numbers.
  public let format: CDBFormat
  /// The number of records that it will have.
  public var count: Int { index.count - replaced.count }
  /// The number of bytes that it will have.
  public var byteCount: Int { output.position - replacedBytes + count * 2 * format.pairSize }

  var output: CDBOutput
  var index = CDBIndex()
  var earlier: CDBEarlierRecords?
  var replaced: [Range<Int>] = []
  var replacedBytes = 0
  private let sizeLimit: UInt64
  let seam: Seam
  private(set) var isOpen = true

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - path: The file to be made; one that is there is replaced at the end, and keeps its permissions.
  ///   - format: The width of its numbers: ``CDBFormat/wide`` for more than 4 GiB.
  /// - Throws: ``CDBError`` with `noFile` (no such directory), `noPermission`, `noSpace`, `ioError`.
  public convenience init(_ path: String, format: CDBFormat = .classic) throws(CDBError) {
    try self.init(path, format: format, sizeLimit: format.sizeLimit, seam: Seam())
  }

  /// Begins a file that is not to get larger than a test likes, or whose steps are to fail.
  package init(
    _ path: String, format: CDBFormat, sizeLimit: UInt64? = nil, seam: Seam
  ) throws(CDBError) {
    // What a symbolic link leads to is replaced, and not the link.
    let target = (try? realPath(path)) ?? path
    self.path = target
    self.format = format
    self.seam = seam
    self.sizeLimit = sizeLimit ?? format.sizeLimit
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    let name = "\(target).\(String(repeating: "0", count: 16 - digits.count))\(digits).tmp"
    do throws(SystemError) {
      output = try CDBOutput(name, like: target, from: format.headerSize, seam)
    } catch { throw CDBError(error) }
  }

  deinit { cancel() }

  /// Gives up: the new file is removed, the old one stays. Harmless when it is finished.
  public func cancel() {
    guard isOpen else { return }
    isOpen = false
    try? removeFile(output.path)
  }

  func checkOpen() throws(CDBError) {
    if !isOpen {
      throw CDBError(.closed, path: path, message: "The writer has finished; make another one.")
    }
  }

  /// Which file it is that has the temporary name.
  var fileIdentity: FileIdentity? { FileStatus(output.path)?.identity }

  /// Marks the writer as done; its file has its name.
  func close() { isOpen = false }

  /// Refuses a record that the numbers of the format can't reach, before anything of it is written.
  @inline(__always)
  func checkRoom(_ key: RawSpan, _ valueCount: Int) throws(CDBError) {
    // A key and a value are in memory, so that their sum can't overflow.
    let size = byteCount + key.byteCount + valueCount + 3 * format.pairSize
    if UInt64(size) > sizeLimit { throw tooLarge([UInt8](copying: key)) }
  }

  private func tooLarge(_ key: [UInt8]) -> CDBError {
    CDBError(
      .tooLarge, path: path,
      message: """
        With this record the file would have more than \(sizeLimit) bytes. What was added before is \
        safe: finish the file, and put the rest into another one\
        \(format == .classic ? ", or write a .wide one." : ".")
        """,
      key: key)
  }
}

extension CDBWriter {
  /// The steps of making a file, in which tests let the disk fail or the process die.
  package enum Step: Int, Sendable, CaseIterable {
    case create, write, compact, synchronize, rename, synchronizeDirectory
  }

  /// What is done before each step: nothing, but in tests.
  package struct Seam: Sendable {
    private let body: (@Sendable (Step) -> SystemError?)?

    /// Does nothing.
    package init() { body = nil }

    /// Asks a test, which may say that the step fails.
    package init(_ body: @escaping @Sendable (Step) -> SystemError?) { self.body = body }

    func before(_ step: Step) throws(SystemError) {
      if let body, let error = body(step) { throw error }
    }
  }
}

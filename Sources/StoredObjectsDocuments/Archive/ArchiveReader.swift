import Files

/// The entries of an archive, checked before any of them is used.
///
/// Nothing in the file is trusted: every size and offset is compared with the size of the file, the
/// entries must not overlap, and a name must be one that a document can have.
struct ArchiveReader {
  let path: String
  let entries: [ArchiveEntry]
  private let file: ReadFile

  /// Opens an archive, and reads its directory.
  ///
  /// - Throws: ``DocumentError`` with `missing`, `invalidArchive`, `tooLarge` or `ioError`.
  init(
    _ path: String, limits: ArchiveLimits = ArchiveLimits(), in fileSystem: any FileSystem
  ) throws(DocumentError) {
    self.path = path
    let location = FileLocation(path, in: fileSystem)
    guard let status = try documentErrors(at: path, { try FileStatus.find(location) }) else {
      throw DocumentError(.missing, "There is no archive at this path.", at: path)
    }
    guard status.isRegular else {
      throw DocumentError(.invalidArchive, "An archive is a file, and this is not one.", at: path)
    }
    let file = try documentErrors(at: path) { try ReadFile(location) }
    self.file = file
    let source = ArchiveSource(path: path, size: file.size) { (offset, count) throws in
      try file.read(offset..<offset + count)
    }
    let directory = try ArchiveDirectory(source, limits)
    entries = try directory.entries(in: source)
  }

  /// Returns a small file; nil if it is missing or has more than 16 MiB.
  func smallFile(_ name: String) throws(DocumentError) -> [UInt8]? {
    guard let entry = entries.first(where: { $0.name.path == name }),
      entry.size <= PackageFormat.maximumPreviewSize
    else { return nil }
    var bytes: [UInt8] = []
    try read(entry) { bytes += $0 }
    return bytes
  }

  /// Calls a closure with the bytes of an entry, piece by piece, and compares their checksum.
  func read(_ entry: ArchiveEntry, _ body: ([UInt8]) throws -> Void) throws(DocumentError) {
    try documentErrors(at: path) {
      var checksum = ArchiveChecksum()
      var offset = entry.content
      let end = offset + entry.size
      while offset < end {
        let count = min(ArchiveFormat.chunkSize, end - offset)
        let bytes = try file.read(offset..<offset + count)
        guard bytes.count == count else { throw invalid("it is shorter than when it was opened") }
        checksum.add(bytes)
        try body(bytes)
        offset += count
      }
      guard checksum.value == entry.checksum else {
        throw invalid("the checksum of \(printable(entry.name.path)) is wrong")
      }
    }
  }

  private func invalid(_ reason: String) -> DocumentError { .invalidArchive(reason, path) }
}

extension DocumentError {
  static func invalidArchive(_ reason: String, _ path: String) -> DocumentError {
    DocumentError(
      .invalidArchive,
      "The file is damaged, or it is not the archive of a document: \(reason). Export it again.",
      at: path)
  }
}

/// A file that is open for reading, until the last reference is released.
final class ReadFile: Sendable {
  private let file: OpenFile
  let size: Int

  init(_ location: FileLocation) throws(SystemError) {
    file = try openFile(location, writable: false)
    do throws(SystemError) {
      size = try file.size()
    } catch {
      file.close()
      throw error
    }
  }

  deinit { file.close() }

  func read(_ range: Range<Int>) throws(SystemError) -> [UInt8] {
    try file.read(range.count, at: range.lowerBound)
  }
}

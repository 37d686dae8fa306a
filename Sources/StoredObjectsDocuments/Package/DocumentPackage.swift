import Files
import FoundationEssentials

/// The directory of a document, which may be locked by one editor.
///
/// Its files are found in the directory that was opened, even if it is moved meanwhile.
final class DocumentPackage: Sendable {
  let handle: DirectoryHandle
  /// Whether this process has locked the directory for editing.
  let isLocked: Bool

  var path: String { handle.path }
  var storePath: String { path + "/" + PackageFormat.store }

  /// Uses an open directory.
  init(_ handle: DirectoryHandle, isLocked: Bool) {
    (self.handle, self.isLocked) = (handle, isLocked)
  }

  /// Opens the directory of a document, without looking at its content.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - isLocked: Whether to lock it for editing.
  ///   - fileSystem: The file system.
  /// - Throws: ``DocumentError`` with `missing`, `notADocument`, `inUse` or `ioError`.
  convenience init(
    opening path: String, isLocked: Bool, in fileSystem: any FileSystem
  ) throws(DocumentError) {
    let location = FileLocation(path, in: fileSystem)
    guard let status = try documentErrors(at: path, { try FileStatus.find(location) }) else {
      throw DocumentError(.missing, "There is no document at this path.", at: path)
    }
    guard status.isDirectory else {
      throw DocumentError(
        .notADocument,
        "A document is a folder, and this is not one. Import an archive before you open it.",
        at: path)
    }
    do {
      let path = try realPath(path, in: fileSystem)
      let location = FileLocation(path, in: fileSystem)
      let handle =
        try isLocked ? DirectoryHandle(location, shared: false) : DirectoryHandle(location)
      self.init(handle, isLocked: isLocked)
    } catch {
      guard error.kind == .inUse else { throw DocumentError(error, at: path) }
      throw Self.inUse(path, in: fileSystem, error)
    }
  }

  /// Returns the error for a document that another process edits.
  private static func inUse(
    _ path: String, in fileSystem: any FileSystem, _ error: any Error
  ) -> DocumentError {
    let editor = editor(of: path, in: fileSystem)
    let name = editor.map { printable($0.description, limit: 200) } ?? "another program"
    return DocumentError(
      .inUse, "\(name) edits the document: close it there, or open it for reading only.", at: path,
      underlying: error, editor: editor)
  }

  /// Returns the process that has locked a document; nil if there is none, or it is not known.
  static func editor(of path: String, in fileSystem: any FileSystem) -> DocumentEditor? {
    let location = FileLocation(path, in: fileSystem)
    let holder = LockHolder.all(of: location).first
    let bytes = try? firstBytes(
      of: FileLocation(path + "/" + PackageFormat.editor, in: fileSystem),
      count: PackageFormat.maximumManifestSize)
    let written = bytes.flatMap { try? JSONDecoder().decode(DocumentEditor.self, from: Data($0)) }
    // The file may be a leftover of a process that was killed. The kernel knows the lock's holder,
    // except on network file systems.
    guard let holder, holder.processID != written?.processID else { return written }
    return DocumentEditor(
      processID: holder.processID, program: holder.name.isEmpty ? nil : holder.name)
  }

  // MARK: Files

  /// Returns a file of the document.
  func file(_ name: String) -> FileLocation { handle.file(name) }

  /// Reads a regular file of the document; nil if it is missing.
  ///
  /// - Throws: ``DocumentError`` with `damaged` if it is larger than the limit or no regular file.
  func read(_ name: String, limit: Int) throws(DocumentError) -> [UInt8]? {
    try readFile(handle.file(name), limit: limit)
  }

  /// Reads the manifest, and checks it against a type.
  func checkManifest(is type: DocumentType) throws(DocumentError) -> DocumentManifest {
    let limit = PackageFormat.maximumManifestSize
    guard let bytes = try read(PackageFormat.manifest, limit: limit) else {
      throw DocumentError(
        .notADocument,
        "The folder has no \(PackageFormat.manifest), so it is not a document. A plain store can "
          + "be imported into a new one.", at: path)
    }
    let manifest = try DocumentManifest(bytes, at: path + "/" + PackageFormat.manifest)
    try manifest.check(is: type, at: path)
    return manifest
  }

  /// Throws if the store is missing or a symbolic link.
  func checkStore() throws(DocumentError) {
    let location = handle.file(PackageFormat.store)
    let status = try documentErrors(at: location.path) {
      try FileStatus.find(location, followsLink: false)
    }
    if status?.isDirectory == true { return }
    throw DocumentError(
      .damaged, "The folder of the store is missing. Restore the document from a backup.",
      at: location.path)
  }

  /// Writes a file under another name, syncs it, and renames it.
  func replace(_ name: String, by bytes: [UInt8]) throws(DocumentError) {
    try replaceFile(name, in: handle, by: bytes)
  }

  func remove(_ name: String) { try? removeFile(handle.file(name)) }
}

/// Reads a regular file; nil if it is missing.
func readFile(_ location: FileLocation, limit: Int) throws(DocumentError) -> [UInt8]? {
  try documentErrors(at: location.path) {
    guard let status = try FileStatus.find(location, followsLink: false) else { return nil }
    guard status.isRegular, status.size <= limit else {
      throw DocumentError(
        .damaged, "This is no regular file, or it is larger than \(limit) bytes.",
        at: location.path)
    }
    return try firstBytes(of: location, count: limit)
  }
}

/// Writes a file of a directory under another name, syncs it, and renames it.
func replaceFile(
  _ name: String, in directory: DirectoryHandle, by bytes: [UInt8]
) throws(DocumentError) {
  let location = directory.file(name)
  let new = directory.file(PackageFormat.newPartialName)
  do {
    let rights = try FileStatus.find(location, followsLink: false)?.rights.ofReplacement
    let file = try NewFile(new, rights: rights ?? .anyone)
    try file.write(bytes, at: 0)
    try file.synchronize()
    try renameFile(new, location)
  } catch {
    try? removeFile(new)
    throw .wrapping(error, at: location.path)
  }
}

import Files
import StoreEngine
import StoredObjectsCore

extension StoredDocument {
  /// Notices changes of the document's files by other programs, and reports them as events.
  ///
  /// A document that was moved or renamed has its new ``path`` afterwards, and continues there. For
  /// a document that is open for reading only, it also notices saves by others. Call it when your
  /// window becomes active. Saves and autosaves call it, too.
  ///
  /// Complexity: a few calls of the file system, and for a document that is open for editing as
  /// ``isEdited``.
  ///
  /// - Throws: ``DocumentError`` with `missing` if the document was removed.
  public func checkFiles() throws(DocumentError) {
    try requireOpen()
    switch try documentErrors(at: path, { try package.handle.position() }) {
    case .unchanged, .moved(to: nil): break
    case .moved(to: let newPath?):
      // After another process has saved a document under another name, there are two: a copy here,
      // and the other one where the open directory is now.
      if isReadOnly, isDocument(at: path) { break }
      try follow(to: newPath)
    case .removed:
      onEvent?(.removed)
      throw DocumentError(
        .missing,
        "The document was removed by another program. Restore it from the trash or a backup.",
        at: path)
    }
    guard isReadOnly else { return tellEdited() }
    let stamp = package.stamp
    if stamp == self.stamp { return }
    self.stamp = stamp
    onEvent?(.changedElsewhere)
  }

  private func isDocument(at path: String) -> Bool {
    let manifest = joinedPath(path, PackageFormat.manifest)
    return (try? exists(FileLocation(manifest, in: type.fileSystem))) == true
  }

  /// Uses the path to which the open directory has been moved.
  func follow(to newPath: String) throws(DocumentError) {
    guard try documentErrors(at: newPath, { try package.handle.follow(to: newPath) }) else {
      return
    }
    isUntitled = Self.isDraft(newPath, of: type)
    // Messages would have the old path otherwise; nothing else depends on it.
    if !isReadOnly { try? (backend as? any MovableBackend)?.follow(to: package.storePath) }
    onEvent?(.moved(to: newPath))
  }

  /// Moves or renames the document, which stays open.
  ///
  /// Complexity: as ``checkFiles()``; waits for the disk. Also linear in the number of files of a
  /// document that is replaced.
  ///
  /// - Parameters:
  ///   - newPath: The new path, on the same file system.
  ///   - replacing: Whether to replace a document at the path.
  /// - Throws: ``DocumentError`` with `exists`, `missing`, `inUse`, `readOnly`, or `ioError` if the
  ///   path is on another file system.
  public func move(to newPath: String, replacing: Bool = false) throws(DocumentError) {
    try requireEditing()
    try checkFiles()
    let target = try openParent(of: newPath, in: type.fileSystem)
    let name = lastComponent(of: newPath)
    if try isHere(target.file(name)) { return }
    let source = try openParent(of: path, in: type.fileSystem)
    try place(
      source.file(lastComponent(of: path)), from: source, at: target.file(name), in: target,
      replacing: replacing)
    try follow(to: joinedPath(target.path, name))
  }

  /// Whether a path leads to this document.
  func isHere(_ location: FileLocation) throws(DocumentError) -> Bool {
    try documentErrors(at: location.path) {
      try FileStatus.find(location)?.identity == package.handle.identity
    }
  }

  /// Opens a document that is open for reading only again, to see what others have saved.
  ///
  /// The document has a new ``store`` afterwards, see ``DocumentEvent/storeReplaced``.
  ///
  /// Complexity: as ``init(opening:as:access:key:)``.
  ///
  /// - Throws: ``DocumentError``, as ``init(opening:as:access:key:)``. The document stays as it was
  ///   then.
  public func reload(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try await reload(access: .reading)
  }

  /// Opens a document that is open for reading only for editing, for example when the other process
  /// has closed it.
  ///
  /// The document has a new ``store`` afterwards, see ``DocumentEvent/storeReplaced``.
  ///
  /// Complexity: as ``init(opening:as:access:key:)``.
  ///
  /// - Throws: ``DocumentError``, as ``init(opening:as:access:key:)``. The document stays as it was
  ///   then.
  public func beginEditing(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try await reload(access: .editing)
  }

  private func reload(
    access: DocumentAccess, isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try requireOpen()
    guard isReadOnly else { return }
    let opened = try OpenedPackage(path, as: type, access: access, key: key)
    let old = container
    try replace(by: opened)
    try? await old.close()
  }

  /// Continues with another package and a new store.
  func replace(by opened: OpenedPackage) throws(DocumentError) {
    let newStore: Store
    do throws(StoreError) {
      newStore = try opened.container.makeStore()
    } catch {
      try? opened.container.backend.close()
      throw DocumentError(error, at: opened.package.path)
    }
    store.delegate = nil
    (store, container, package) = (newStore, opened.container, opened.package)
    (manifest, versionList, stamp) = (opened.manifest, opened.versions, opened.stamp)
    (isReadOnly, editor) = (!opened.package.isLocked, opened.editor)
    isUntitled = Self.isDraft(path, of: type)
    previews = isReadOnly ? nil : PreviewWriter(type, thread, isEncrypted: key != nil)
    editSearch.reset()
    useStore()
    wasEdited = isEdited
    onEvent?(.storeReplaced)
  }
}

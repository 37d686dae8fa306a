import Files
import StoredObjectsCore

extension StoredDocument {
  /// Saves the document under another name, at which it continues.
  ///
  /// The original stays as it was saved last. The ``store``, its objects and the undo history are
  /// the same as before: the open folder gets the new name, and a copy the old one. A crash leaves
  /// the original, and either no new document or a whole one. A failure can leave a document that
  /// was to be replaced with the last saved state of this one.
  ///
  /// If the new path is on another file system, the document is copied there, and has a new
  /// ``store`` afterwards: see ``DocumentEvent/storeReplaced``. That is also so for a document that
  /// is open for reading only, which can be edited under its new name.
  ///
  /// Complexity: linear in the size of the document, unless the file system can share the content
  /// of copies. An untitled document is only renamed if it stays on its file system.
  ///
  /// - Parameters:
  ///   - newPath: The path, by convention with the extension of the type.
  ///   - replacing: Whether to replace a document at the path.
  ///   - progress: Called with the progress of the copy, on another thread.
  ///   - isolation: The isolation domain of the document.
  /// - Throws: ``DocumentError`` with `exists`, `missing` (there is no such folder), `inUse`
  ///   (another process edits the document to replace), `unsavedChanges` (a document without
  ///   versions goes to another file system, or is edited all the time), `cancelled`, `noSpace`,
  ///   `ioError` or `store`. If only the last step fails, which saves the changes, the document has
  ///   its new path and unsaved changes.
  public func save(
    as newPath: String, replacing: Bool = false,
    progress: @escaping @Sendable (DocumentProgress) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try requireOpen()
    try checkFiles()
    let parent = try openParent(of: newPath, in: type.fileSystem)
    let target = parent.file(lastComponent(of: newPath))
    let path = joinedPath(parent.path, lastComponent(of: newPath))
    if !isReadOnly, !isUntitled, try isHere(target) { return try save() }
    try checkTarget(target, replacing: replacing)
    let isSameDevice = parent.identity.device == package.handle.identity.device
    if isReadOnly || !isSameDevice {
      try await saveByCopy(as: path, replacing, progress)
    } else if isUntitled {
      try await saveDraft(as: path, in: parent, replacing, progress)
    } else {
      try await saveByExchange(as: path, replacing, progress)
    }
    try addVersion()
    writePreviews()
    tellEdited()
  }

  /// Gives an untitled document its name.
  private func saveDraft(
    as path: String, in parent: DirectoryHandle, _ replacing: Bool,
    _ progress: @escaping @Sendable (DocumentProgress) -> Void,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try saveStore()
    do throws(DocumentError) {
      let drafts = try openParent(of: self.path, in: type.fileSystem)
      try place(
        drafts.file(lastComponent(of: self.path)), from: drafts,
        at: parent.file(lastComponent(of: path)), in: parent, replacing: replacing)
    } catch {
      guard (error.underlying as? SystemError)?.isUnsupportedMove == true else { throw error }
      return try await saveByCopy(as: path, replacing, progress)
    }
    try follow(to: path)
    isUntitled = Self.isDraft(path, of: type)
  }

  /// Gives a copy the new name, and exchanges it with the document.
  ///
  /// At any moment there is a whole document under the old name, with all that was saved or
  /// autosaved until the exchange.
  private func saveByExchange(
    as path: String, _ replacing: Bool,
    _ progress: @escaping @Sendable (DocumentProgress) -> Void,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    let saved = hasCommittedEdits ? versionList.saved : nil
    let copy = try await makeCopy(for: path, replacing, asOf: saved, progress)
    let hasReplaced = (try? exists(FileLocation(path, in: type.fileSystem))) == true
    do throws(DocumentError) {
      try requireOpen()
      try checkFiles()
      try copy.publish(replacing: replacing)
    } catch {
      copy.remove()
      throw error
    }
    do throws(SystemError) {
      let parent = try openFolder()
      try copy.exchange(with: package, in: parent)
    } catch {
      if !hasReplaced { copy.removePublished() }
      guard error.isUnsupportedMove else { throw DocumentError(error, at: self.path) }
      copy.package.handle.unlock()
      return try await saveByCopy(as: path, replacing || hasReplaced, progress)
    }
    try follow(to: path)
    try saveStore()
  }

  /// Opens the folder that contains the document.
  private func openFolder() throws(SystemError) -> DirectoryHandle {
    try DirectoryHandle(FileLocation(directoryName(path), in: type.fileSystem))
  }

  /// Copies the document, and continues with the copy and a new store.
  private func saveByCopy(
    as path: String, _ replacing: Bool,
    _ progress: @escaping @Sendable (DocumentProgress) -> Void,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    let copy = try await makeUpToDateCopy(for: path, replacing, progress)
    do {
      try copy.publish(replacing: replacing)
    } catch {
      copy.remove()
      throw error
    }
    // The copy is whole from now on; until it is open, the original stays as it is.
    let opened = try OpenedPackage(reopening: copy, as: type, key: key)
    let (old, oldContainer) = (package, container)
    if !isReadOnly {
      if isUntitled { removePackage() } else { try? takeBackAutosaves() }
      old.remove(PackageFormat.editor)
    }
    try replace(by: opened)
    onEvent?(.moved(to: self.path))
    try? await oldContainer.close()
    old.handle.unlock()
  }

  /// Copies the document with all its changes, and again if it is edited meanwhile.
  private func makeUpToDateCopy(
    for path: String, _ replacing: Bool,
    _ progress: @escaping @Sendable (DocumentProgress) -> Void,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) -> PartialPackage {
    for _ in 0..<3 {
      if !isReadOnly, store.hasUnsavedChanges {
        guard type.keepsVersions || isUntitled else { break }
        try saveStore()
      }
      let number = backend.lastCommitNumber
      let copy = try await makeCopy(for: path, replacing, asOf: nil, progress)
      if isReadOnly || !store.hasUnsavedChanges && backend.lastCommitNumber == number {
        return copy
      }
      copy.remove()
    }
    throw DocumentError(
      .unsavedChanges,
      """
      The document can't be copied to another file system while it has unsaved changes: save or \
      revert it first.
      """,
      at: self.path)
  }

  /// Reverts the original to its last save, as far as possible.
  private func takeBackAutosaves() throws(DocumentError) {
    guard hasCommittedEdits else { return }
    do throws(StoreError) {
      try backend.revert(toCommit: versionList.saved, author: type.configuration.author)
    } catch {
      throw DocumentError(error, at: path)
    }
    var list = versionList
    list.saved = backend.lastCommitNumber
    try write(list)
  }

  /// Copies the package as of the last commit, beside a path.
  ///
  /// - Parameters:
  ///   - path: The path, which the copy does not have yet.
  ///   - replacing: Whether it will replace a document.
  ///   - saved: The commit to which the copy is reverted; nil for the last one.
  ///   - progress: Called with the progress, on another thread.
  ///   - isolation: The isolation domain of the document.
  /// - Returns: The copy under a hidden name.
  /// - Throws: ``DocumentError``.
  func makeCopy(
    for path: String, _ replacing: Bool, asOf saved: UInt64?,
    _ progress: @escaping @Sendable (DocumentProgress) -> Void,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) -> PartialPackage {
    let copy = try packageCopy(progress)
    return try await thread.run { [type, key, versionList] flag throws(DocumentError) in
      let partial = try PartialPackage(for: path, replacing: replacing, in: type.fileSystem)
      do throws(DocumentError) {
        try copy.run(to: partial.package, flag)
        if let saved { try partial.revert(toCommit: saved, versionList, type, key) }
        return partial
      } catch {
        partial.remove()
        throw error
      }
    }
  }

  func packageCopy(
    _ progress: @escaping @Sendable (DocumentProgress) -> Void
  ) throws(DocumentError) -> PackageCopy {
    guard let backend = backend as? any DirectoryBackend else {
      throw DocumentError(.ioError, "The store of the document is not in a directory.", at: path)
    }
    return PackageCopy(package: package, backend: backend, progress: progress)
  }
}

extension PartialPackage {
  /// Takes back the autosaves of a copy.
  fileprivate func revert(
    toCommit number: UInt64, _ versions: VersionList, _ type: DocumentType, _ key: (any StoreKey)?
  ) throws(DocumentError) {
    try documentErrors(at: path) {
      let backend = try type.openBackend(package.storePath, .readWrite, key)
      do {
        try backend.revert(toCommit: number, author: type.configuration.author)
        var versions = versions
        versions.saved = backend.lastCommitNumber
        try package.replace(PackageFormat.versions, by: try versions.encoded())
        try backend.close()
      } catch {
        try? backend.close()
        throw error
      }
    }
  }
}

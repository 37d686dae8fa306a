import Files
import StoredObjectsCore

extension StoredDocument {
  /// Closes the document, and releases its lock.
  ///
  ///     do {
  ///       try await document.close()
  ///     } catch {
  ///       guard error.code == .unsavedChanges else { throw error }
  ///       // Ask the user, then: try await document.close(.saving)
  ///     }
  ///
  /// It waits for writes of the ``container`` and for previews. Objects keep their values, but can
  /// no longer be saved. Closing a closed document does nothing. A document that is released
  /// without being closed loses its unsaved changes, and nothing else.
  ///
  /// Complexity: that of closing the store, which may fold its log into its files, and of
  /// ``save(named:)``, ``revert()`` or ``autosave()`` if `closing` needs it. With
  /// ``DocumentType/versionRetention``, also linear in the history that is removed.
  ///
  /// - Parameters:
  ///   - closing: The treatment of unsaved changes.
  ///   - isolation: The isolation domain of the document.
  /// - Throws: ``DocumentError`` with `unsavedChanges`, or an error of ``save(named:)``,
  ///   ``revert()`` or ``autosave()``. The document stays open then.
  public func close(
    _ closing: DocumentClosing = .ifUnedited, isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    if isClosed { return }
    if !isReadOnly { try finish(closing) }
    let isObsolete = isUntitled && !isReadOnly && closing != .keepingChanges
    isClosed = true
    edits.finish()
    store.delegate = nil
    await finishPreviews()
    let (container, package) = (container, package)
    let result: Result<Void, any Error>
    do {
      try await container.close()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    if package.isLocked { package.remove(PackageFormat.editor) }
    if isObsolete { removePackage() }
    package.handle.unlock()
    try documentErrors(at: package.path) { try result.get() }
  }

  private func finish(_ closing: DocumentClosing) throws(DocumentError) {
    switch closing {
    case .ifUnedited:
      if isEdited {
        throw DocumentError(
          .unsavedChanges, "The document has unsaved changes: save or discard them.", at: path)
      }
    case .saving: if isEdited || !isUntitled { try saveIfEdited() }
    case .discarding: if isEdited, !isUntitled { try revert() }
    case .keepingChanges: if store.hasUnsavedChanges { try autosave() }
    }
    try shortenHistory()
  }

  private func saveIfEdited() throws(DocumentError) {
    if isEdited { try save() }
  }

  /// Removes versions by the rule of the type.
  private func shortenHistory() throws(DocumentError) {
    // The history since the last save is needed for `revert()`.
    guard type.keepsVersions, let retention = type.versionRetention, !isUntitled, !isEdited else {
      return
    }
    do throws(StoreError) {
      let last = backend.lastCommitNumber
      let start = try backend.purgeHistory(keeping: retention)
      // The removal is a commit, too.
      if backend.lastCommitNumber == last { return }
      var list = versionList
      list.versions.removeAll { $0.commitNumber < start }
      list.saved = max(list.saved, start)
      do throws(DocumentError) { try write(list) } catch { return }
    } catch {
      throw DocumentError(error, at: path)
    }
  }

  /// Removes the folder of the document.
  func removePackage() {
    guard let parent = try? openParent(of: path, in: type.fileSystem),
      (try? isHere(parent.file(lastComponent(of: path)))) == true
    else { return }
    removeTree(lastComponent(of: path), in: parent)
  }
}

import FoundationEssentials
public import StoredObjectsCore

extension StoredDocument {
  /// The saved versions of the document, the oldest first.
  ///
  /// They are kept in the history of the store, see <doc:VersionsAndAutosave>. Empty without
  /// versions.
  public var versions: [DocumentVersion] { type.keepsVersions ? versionList.versions : [] }

  /// Takes back all changes since the last save, saved automatically or not.
  ///
  /// Objects that the application holds have their saved values. The undo history is removed. An
  /// untitled document is empty again.
  ///
  /// Complexity: linear in the number of unsaved changes, and in the entries of the history after
  /// the last save.
  ///
  /// - Throws: ``DocumentError`` with `readOnly`, `noSuchVersion` (the history was shortened),
  ///   `noSpace`, `ioError` or `store`.
  public func revert() throws(DocumentError) {
    try requireEditing()
    try checkFiles()
    if hasCommittedEdits {
      try revertStore(toCommit: versionList.saved)
      var list = versionList
      list.saved = backend.lastCommitNumber
      try write(list)
    }
    store.discardChanges()
    store.mergeChanges()
    undoManager?.removeAllActions()
    writePreviews()
    tellEdited()
  }

  /// Makes the document what it was in a version.
  ///
  /// The versions since then stay. The document counts as edited: the next save makes it the last
  /// version, and ``revert()`` takes the change back. Unsaved changes are discarded, and the undo
  /// history is removed.
  ///
  /// Complexity: linear in the number of unsaved changes, and in the entries of the history after
  /// the version.
  ///
  /// - Throws: ``DocumentError`` with `readOnly`, `noSuchVersion`, `noSpace`, `ioError` or `store`.
  public func revert(to version: DocumentVersion) throws(DocumentError) {
    try requireEditing()
    try check(version)
    try checkFiles()
    try revertStore(toCommit: version.commitNumber)
    store.discardChanges()
    store.mergeChanges()
    undoManager?.removeAllActions()
    writePreviews()
    tellEdited()
  }

  /// Returns the data of a version, to show it beside the document.
  ///
  ///     let store = try document.snapshot(of: version).makeStore()
  ///
  /// Complexity: linear in the entries of the history after the version. Memory: the size of their
  /// changes.
  ///
  /// - Throws: ``DocumentError`` with `noSuchVersion`, `closed`, `ioError` or `store`.
  public func snapshot(of version: DocumentVersion) throws(DocumentError) -> StoreSnapshot {
    try requireOpen()
    try check(version)
    do throws(StoreError) {
      return try container.snapshot(asOf: version.commitNumber)
    } catch {
      throw DocumentError(error, at: path)
    }
  }

  /// Removes all versions before a given one from the history, to make the document smaller.
  ///
  /// Complexity: linear in the number of versions and of removed entries.
  ///
  /// - Throws: ``DocumentError`` with `readOnly`, `noSuchVersion`, `noSpace`, `ioError` or `store`.
  public func removeVersions(before version: DocumentVersion) throws(DocumentError) {
    try requireEditing()
    try check(version)
    // The last save must stay reachable for `revert()`.
    let number = min(version.commitNumber, versionList.saved)
    do throws(StoreError) {
      try backend.purgeHistory(through: number)
    } catch {
      throw DocumentError(error, at: path)
    }
    var list = versionList
    list.versions.removeAll { $0.commitNumber < number }
    try write(list)
  }

  private func check(_ version: DocumentVersion) throws(DocumentError) {
    if versions.contains(version) { return }
    throw DocumentError(
      .noSuchVersion, "The document has no such version: choose one of its versions.", at: path)
  }

  private func revertStore(toCommit number: UInt64) throws(DocumentError) {
    do throws(StoreError) {
      try backend.revert(toCommit: number, author: type.configuration.author)
    } catch {
      guard error.code == .historyExpired else { throw DocumentError(error, at: path) }
      throw DocumentError(
        .noSuchVersion, "The history of the document does not reach back to this version.",
        at: path, underlying: error)
    }
  }
}

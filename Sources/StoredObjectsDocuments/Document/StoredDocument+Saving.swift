import FoundationEssentials
import StoredObjectsCore

extension StoredDocument {
  /// Whether the document differs from its last save: it has unsaved changes, or autosaved ones.
  ///
  /// Changes that other stores of the ``container`` have saved count as well; the event for them
  /// comes with the next call of ``checkFiles()``. Without versions, only
  /// unsaved changes count.
  ///
  /// Complexity: linear in the number of classes, and in the size of the commits since the last
  /// call.
  public var isEdited: Bool {
    if isReadOnly || isClosed { return false }
    return store.hasUnsavedChanges || hasCommittedEdits
  }

  /// Whether there are commits since the last save that have changed content.
  var hasCommittedEdits: Bool {
    type.keepsVersions && editSearch.hasEdits(in: backend, since: versionList.saved)
  }

  /// Saves all changes, and makes them the last saved version.
  ///
  /// A save writes all changes or none. The previews follow in the background, and never delay or
  /// fail a save.
  ///
  /// Complexity: as `Store.saveChanges()` and ``isEdited``; also linear in the number of versions,
  /// whose list is written, with a second wait for the disk.
  ///
  /// - Parameter name: A name for the version, for ``versions``.
  /// - Throws: ``DocumentError`` with `untitled` (save it under a name), `readOnly`, `missing` (the
  ///   document was removed), `noSpace`, `ioError`, or `store` with the error of
  ///   `Store.saveChanges()`. The changes are unsaved then, and you can try again.
  public func save(named name: String? = nil) throws(DocumentError) {
    try requireEditing()
    if isUntitled {
      throw DocumentError(
        .untitled, "The document has no name yet: save it under one with save(as:).", at: path)
    }
    try checkFiles()
    let isNew = isEdited || name != nil || versionList.versions.isEmpty
    try saveStore()
    if isNew { try addVersion(named: name) }
    tellEdited()
  }

  /// Saves unsaved changes without making a version.
  ///
  /// ``revert()`` takes them back, and the document counts as edited. Call it when your application
  /// becomes inactive, or use ``autosave(after:isolation:)``. Does nothing if there are no changes.
  ///
  /// Without versions it saves as ``save(named:)`` does.
  ///
  /// Complexity: as `Store.saveChanges()` and ``isEdited``.
  ///
  /// - Throws: ``DocumentError``, as ``save(named:)``, but not `untitled`.
  public func autosave() throws(DocumentError) {
    try requireEditing()
    guard store.hasUnsavedChanges else { return }
    try checkFiles()
    try saveStore()
    onEvent?(.autosaved)
    tellEdited()
  }

  /// Saves unsaved changes some time after the first of them, until the document is closed or the
  /// task is cancelled.
  ///
  ///     Task { await document.autosave(after: .seconds(5)) }
  ///
  /// The document reports ``DocumentEvent/autosaved`` and ``DocumentEvent/autosaveFailed(_:)``.
  /// After a failure it tries again, unless the document was removed. A program whose main loop
  /// does not run tasks calls ``autosave()`` from a timer instead.
  ///
  /// Complexity: as ``autosave()`` for each save.
  ///
  /// - Parameters:
  ///   - delay: The time that changes wait.
  ///   - isolation: The isolation domain of the document.
  public func autosave(
    after delay: Duration, isolation: isolated (any Actor)? = #isolation
  ) async {
    if isReadOnly || isClosed { return }
    if store.hasUnsavedChanges { edits.send() }
    while await edits.wait() {
      guard (try? await Task.sleep(for: delay)) != nil, !isClosed else { return }
      do throws(DocumentError) {
        try autosave()
      } catch {
        onEvent?(.autosaveFailed(error))
        if error.code == .missing { return }
        edits.send()
      }
    }
  }

  /// Commits the changes of the store.
  func saveStore() throws(DocumentError) {
    let hasChanges = store.hasUnsavedChanges
    isSaving = true
    defer { isSaving = false }
    do throws(StoreError) {
      try store.saveChanges()
    } catch {
      throw DocumentError(error, at: path)
    }
    if hasChanges { editSearch.noteEdit() }
    writePreviews()
  }

  /// Makes the state of the last commit the last saved version.
  func addVersion(named name: String? = nil) throws(DocumentError) {
    guard type.keepsVersions else { return }
    var list = versionList
    list.append(
      DocumentVersion(commitNumber: backend.lastCommitNumber, date: .now, name: name))
    try write(list)
  }

  func write(_ list: VersionList) throws(DocumentError) {
    let bytes = try documentErrors(at: path) { try list.encoded() }
    try package.replace(PackageFormat.versions, by: bytes)
    versionList = list
    editSearch.reset()
  }
}

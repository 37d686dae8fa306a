import Files
import StoredObjectsCore

extension StoredDocument {
  /// Writes a copy of the document, which stays open under its own name.
  ///
  /// Unsaved changes are in the copy: they are saved first, as by ``autosave()``. The copy has the
  /// versions of the document. A crash leaves either no copy or a whole one.
  ///
  /// Complexity: linear in the size of the document, unless the file system can share the content
  /// of copies. Unsaved changes cost an ``autosave()``.
  ///
  /// - Parameters:
  ///   - newPath: The path of the copy.
  ///   - replacing: Whether to replace a document at the path.
  ///   - progress: Called with the progress, on another thread.
  ///   - isolation: The isolation domain of the document.
  /// - Throws: ``DocumentError`` with `exists`, `missing`, `inUse`, `cancelled`, `noSpace`,
  ///   `ioError` or `store`.
  public func saveCopy(
    to newPath: String, replacing: Bool = false,
    progress: @escaping @Sendable (DocumentProgress) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try saveBeforeCopy()
    let copy = try await makeCopy(for: newPath, replacing, asOf: nil, progress)
    do {
      try copy.publish(replacing: replacing)
    } catch {
      copy.remove()
      throw error
    }
  }

  /// Creates an untitled document with the content of this one, unsaved changes included.
  ///
  /// Complexity: as ``saveCopy(to:replacing:progress:isolation:)`` and
  /// ``init(opening:as:access:key:)``.
  ///
  /// - Throws: ``DocumentError`` with `cancelled`, `noSpace`, `ioError` or `store`.
  public func duplicate(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) -> StoredDocument {
    let path = try Self.newDraftPath(of: type)
    try await saveCopy(to: path)
    return try StoredDocument(opening: path, as: type, key: key)
  }

  func saveBeforeCopy() throws(DocumentError) {
    try requireOpen()
    try checkFiles()
    if !isReadOnly, store.hasUnsavedChanges {
      try saveStore()
      tellEdited()
    }
  }
}

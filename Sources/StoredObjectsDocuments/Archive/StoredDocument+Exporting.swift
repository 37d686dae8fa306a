import Files
import StoredObjectsCore

extension StoredDocument {
  /// Writes the document to one file, to send it or to keep it.
  ///
  ///     try await document.export(to: "Ship.sketch.zip")
  ///
  /// The archive is a ZIP file without compression, so other programs can unpack it. It contains
  /// the versions, and an encrypted document stays encrypted in it. Unsaved changes are saved
  /// first, as by ``autosave()``. The store stays usable meanwhile. A crash leaves either no
  /// archive or a whole one.
  ///
  /// Complexity: linear in the size of the document. Disk space: the size of the document again
  /// while it is written, unless the file system can share the content of copies.
  ///
  /// - Parameters:
  ///   - archive: The path of the archive.
  ///   - replacing: Whether to replace a file at the path.
  ///   - progress: Called with the progress, on another thread.
  ///   - isolation: The isolation domain of the document.
  /// - Throws: ``DocumentError`` with `exists`, `missing`, `cancelled`, `noSpace`, `ioError` or
  ///   `store`.
  public func export(
    to archive: String, replacing: Bool = false,
    progress: @escaping @Sendable (DocumentProgress) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try saveBeforeCopy()
    await finishPreviews()
    let copy = try packageCopy { _ in }
    try await thread.run { [type] flag throws(DocumentError) in
      try ArchiveExport(copy: copy, type: type, path: archive, progress: progress)
        .run(replacing: replacing, flag)
    }
  }

  /// Makes a document of an archive.
  ///
  ///     try await StoredDocument.importArchive("Ship.sketch.zip", to: "Ship.sketch", as: .sketch)
  ///     let document = try StoredDocument(opening: "Ship.sketch", as: .sketch)
  ///
  /// The archive may come from anywhere. Names that lead out of the document, links, entries that
  /// overlap or occur twice, wrong checksums and compressed entries are refused. The content of the
  /// store is not read: a damaged store is found when it is opened. A crash leaves either no
  /// document or a whole one.
  ///
  /// Complexity: linear in the size of the archive, whose files are copied and synced, and in the
  /// number of files beside the new document.
  ///
  /// - Parameters:
  ///   - archive: The path of the archive.
  ///   - path: The path of the new document.
  ///   - type: The type of the document.
  ///   - replacing: Whether to replace a document at the path.
  ///   - limits: The limits of the content.
  ///   - progress: Called with the progress, on another thread.
  ///   - isolation: The isolation domain of the caller.
  /// - Throws: ``DocumentError`` with `missing`, `invalidArchive`, `tooLarge`, `otherType`,
  ///   `newerVersion`, `exists`, `inUse`, `cancelled`, `noSpace` or `ioError`.
  public static func importArchive(
    _ archive: String, to path: String, as type: DocumentType, replacing: Bool = false,
    limits: ArchiveLimits = ArchiveLimits(),
    progress: @escaping @Sendable (DocumentProgress) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DocumentError) {
    try await DocumentThread().run { flag throws(DocumentError) in
      try ArchiveImport(path: archive, type: type, limits: limits, progress: progress)
        .run(to: path, replacing: replacing, flag)
    }
  }
}

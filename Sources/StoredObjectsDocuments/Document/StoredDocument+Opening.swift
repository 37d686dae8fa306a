import Files
public import StoredObjectsCore

extension StoredDocument {
  /// Opens a document.
  ///
  ///     let document = try StoredDocument(opening: "Ship.sketch", as: .sketch)
  ///
  /// A document that is opened for editing is locked: another process gets `inUse`, with the
  /// process that edits it. The lock ends with the process, however that ends. Untitled documents
  /// are opened in the same way, see ``drafts(of:)``.
  ///
  /// Opening takes a few milliseconds. Migrations of the type run first; see
  /// ``DocumentType/migrations``.
  ///
  /// Complexity: linear in the number of classes, of versions and of the store's files, and in the
  /// size of its log, which is read; plus that of the migrations.
  ///
  /// - Parameters:
  ///   - path: The folder of the document.
  ///   - type: The expected type.
  ///   - access: The access; by default editing.
  ///   - key: The key of an encrypted document.
  /// - Throws: ``DocumentError`` with `missing`, `notADocument`, `otherType`, `newerVersion`,
  ///   `damaged`, `inUse`, `ioError`, or `store` with the error of the store, such as `encrypted`
  ///   or `wrongKey`.
  public convenience init(
    opening path: String, as type: DocumentType, access: DocumentAccess = .editing,
    key: (any StoreKey)? = nil
  ) throws(DocumentError) {
    let opened = try OpenedPackage(path, as: type, access: access, key: key)
    let isDraft = Self.isDraft(opened.package.path, of: type)
    try self.init(type, opened, isUntitled: isDraft, thread: DocumentThread())
  }

  /// Creates an untitled document, in the folder of drafts until it is saved under a name.
  ///
  /// With autosave, it survives a crash: see ``drafts(of:)``.
  ///
  /// Complexity: creates an empty store, and waits for the disk several times. Also linear in the
  /// number of drafts.
  ///
  /// - Parameters:
  ///   - type: The type of the document.
  ///   - key: The key with which the document is encrypted; nil for none.
  /// - Throws: ``DocumentError`` with `noSpace`, `ioError` or `store`.
  public convenience init(
    untitled type: DocumentType, key: (any StoreKey)? = nil
  ) throws(DocumentError) {
    let path = try Self.newDraftPath(of: type)
    try Self.make(at: path, as: type, replacing: false) { (store) throws(StoreError) in
      try type.openBackend(store, .readWrite, key)
    }
    try self.init(opening: path, as: type, key: key)
  }

  /// Creates an empty document at a path, and opens it for editing.
  ///
  /// Complexity: creates an empty store, and waits for the disk several times. Also linear in the
  /// number of files beside the document, and of those of a document that is replaced.
  ///
  /// - Parameters:
  ///   - path: The path, by convention with the extension of the type.
  ///   - type: The type of the document.
  ///   - key: The key with which the document is encrypted; nil for none.
  ///   - replacing: Whether to replace a document at the path.
  /// - Throws: ``DocumentError`` with `exists`, `missing` (there is no such folder), `inUse`,
  ///   `noSpace`, `ioError` or `store`.
  public convenience init(
    creating path: String, as type: DocumentType, key: (any StoreKey)? = nil,
    replacing: Bool = false
  ) throws(DocumentError) {
    try Self.make(at: path, as: type, replacing: replacing) { (store) throws(StoreError) in
      try type.openBackend(store, .readWrite, key)
    }
    try self.init(opening: path, as: type, key: key)
  }

  /// Creates an untitled document with a copy of a store that is not in a document.
  ///
  /// Use it for stores of earlier programs, such as documents of BNRPersistence. The store stays as
  /// it is.
  ///
  /// Complexity: linear in the size of the store, unless the file system can share the content of
  /// copies.
  ///
  /// - Parameters:
  ///   - directory: The directory of the store.
  ///   - type: The type of the document, with the backend of the store.
  ///   - key: The key of an encrypted store, also for the document.
  /// - Throws: ``DocumentError`` with `missing`, `noSpace`, `ioError` or `store`.
  public convenience init(
    importingStore directory: String, as type: DocumentType, key: (any StoreKey)? = nil
  ) throws(DocumentError) {
    let path = try Self.newDraftPath(of: type)
    try Self.make(at: path, as: type, replacing: false) { (store) throws(StoreError) in
      let source = try type.openBackend(directory, .readOnly, key)
      defer { try? source.close() }
      try source.backup(to: store) { _ in }
      return try type.openBackend(store, .readWrite, key)
    }
    try self.init(opening: path, as: type, key: key)
  }

  /// Creates the folder of a document.
  private static func make(
    at path: String, as type: DocumentType, replacing: Bool,
    _ makeStore: (_ directory: String) throws(StoreError) -> any DirectoryBackend
  ) throws(DocumentError) {
    let partial = try PartialPackage(for: path, replacing: replacing, in: type.fileSystem)
    do {
      let package = partial.package
      let backend = try makeStore(package.storePath)
      do {
        if type.keepsVersions { try backend.beginHistory() }
        let versions = VersionList(saved: backend.lastCommitNumber)
        try package.replace(PackageFormat.versions, by: try versions.encoded())
        try backend.close()
      } catch {
        try? backend.close()
        throw error
      }
      try package.replace(PackageFormat.manifest, by: try DocumentManifest(of: type).encoded())
      if let bytes = type.folderFile { try package.replace(PackageFormat.folderFile, by: bytes) }
      try partial.publish(replacing: replacing)
    } catch {
      partial.remove()
      throw .wrapping(error, at: path)
    }
  }
}

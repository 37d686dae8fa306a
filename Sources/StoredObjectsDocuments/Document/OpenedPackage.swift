import Files
import StoreEngine
import StoredObjectsCore

/// A package with its open store, from which a ``StoredDocument`` is made.
struct OpenedPackage {
  let package: DocumentPackage
  let manifest: DocumentManifest
  let versions: VersionList
  let container: StoreContainer
  let key: (any StoreKey)?
  var stamp: StoreStamp?
  /// The process that edits the document, if that is why it was opened for reading.
  var editor: DocumentEditor?

  /// Opens a document.
  ///
  /// - Throws: ``DocumentError``; nothing remains open then.
  init(
    _ path: String, as type: DocumentType, access: DocumentAccess, key: (any StoreKey)?
  ) throws(DocumentError) {
    switch access {
    case .editing: try self.init(editing: path, as: type, key: key)
    case .reading: try self.init(reading: path, as: type, key: key)
    case .editingIfPossible:
      do {
        try self.init(editing: path, as: type, key: key)
      } catch {
        guard error.code == .inUse else { throw error }
        try self.init(reading: path, as: type, key: key)
        editor = error.editor
      }
    }
  }

  /// Opens a package that this process has just made, and has locked.
  init(
    reopening partial: PartialPackage, as type: DocumentType, key: (any StoreKey)?
  ) throws(DocumentError) {
    try self.init(editing: partial.package, as: type, key: key)
  }

  private init(
    editing path: String, as type: DocumentType, key: (any StoreKey)?
  ) throws(DocumentError) {
    try self.init(
      editing: DocumentPackage(opening: path, isLocked: true, in: type.fileSystem), as: type,
      key: key)
  }

  private init(
    editing package: DocumentPackage, as type: DocumentType, key: (any StoreKey)?
  ) throws(DocumentError) {
    self.package = package
    manifest = try package.checkManifest(is: type).updated(for: type, in: package)
    try package.checkStore()
    package.remove(PackageFormat.partialMarker)
    self.key = key
    let backend = try Self.openBackend(package, type, .readWrite, key)
    do {
      if !type.migrations.isEmpty {
        try Store(backend: backend, configuration: type.configuration)
          .migrate(type.migrations, registering: type.classes)
      }
      container = try StoreContainer(
        backend: backend, classes: type.classes, configuration: type.configuration)
      if type.keepsVersions { try backend.beginHistory() }
      versions = try Self.readVersions(package, backend)
      let editor = try JSON.encoded(DocumentEditor.current)
      try package.replace(PackageFormat.editor, by: editor)
    } catch {
      try? backend.close()
      throw .wrapping(error, at: package.path)
    }
  }

  private init(
    reading path: String, as type: DocumentType, key: (any StoreKey)?
  ) throws(DocumentError) {
    package = try DocumentPackage(opening: path, isLocked: false, in: type.fileSystem)
    manifest = try package.checkManifest(is: type)
    try package.checkStore()
    self.key = key
    stamp = package.stamp
    let backend = try Self.openBackend(package, type, .readOnly, key)
    do {
      container = try StoreContainer(
        backend: backend, classes: type.classes, configuration: type.configuration)
      versions = try Self.readVersions(package, backend)
    } catch {
      try? backend.close()
      throw .wrapping(error, at: package.path)
    }
  }

  private static func openBackend(
    _ package: DocumentPackage, _ type: DocumentType, _ access: StoreAccess,
    _ key: (any StoreKey)?
  ) throws(DocumentError) -> any DirectoryBackend {
    do throws(StoreError) {
      return try type.openBackend(package.storePath, access, key)
    } catch {
      throw DocumentError(error, at: package.storePath)
    }
  }

  /// Reads the list of versions, without those that the store does not have.
  ///
  /// A damaged list is as good as none, because the history has all that was saved.
  private static func readVersions(
    _ package: DocumentPackage, _ backend: any StoreBackend
  ) throws -> VersionList {
    let last = backend.lastCommitNumber
    let bytes = try? package.read(
      PackageFormat.versions, limit: PackageFormat.maximumVersionsSize)
    var list = bytes.flatMap { VersionList($0) } ?? VersionList(saved: last)
    list.limit(to: min(try backend.historyStart() ?? last, last)...last)
    return list
  }
}

extension DocumentManifest {
  /// Notes that a newer program edits the document, before it does.
  fileprivate func updated(
    for type: DocumentType, in package: DocumentPackage
  ) throws(DocumentError) -> DocumentManifest {
    var manifest = self
    manifest.formatVersion = type.formatVersion
    manifest.savedBy = type.programVersion ?? savedBy
    if manifest == self { return self }
    let bytes = try documentErrors(at: package.path) { try manifest.encoded() }
    try package.replace(PackageFormat.manifest, by: bytes)
    return manifest
  }
}

extension DocumentPackage {
  /// The state of the files that every save changes.
  var stamp: StoreStamp { StoreStamp { file(PackageFormat.store + "/" + $0) } }
}

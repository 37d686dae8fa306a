import Files

/// A conversion that encrypts or decrypts a store in place.
///
///     Music             the store as it is             Music             the store as it is to be
///     Music.converting  a copy, as it is to be   -->   Music.converting  the store as it was
///
/// The only step between them is an exchange of two names. So there is a whole store under its name
/// at any moment, and the directory beside it can be removed at any moment. Both directories
/// contain a marker meanwhile, so that no foreign directory is removed.
struct StoreConversion<Format: ClassFileFormat> {
  private let path: String
  private let workPath: String
  /// The directory that contains both directories.
  private let parent: DirectoryHandle
  private let (oldKey, newKey): ((any StoreKey)?, (any StoreKey)?)
  /// Returns the backend through which the old records are read.
  private let view: (any StoreBackend) -> any StoreBackend
  /// Whether the old records are read through another backend.
  ///
  /// In that case the presence of a key does not tell whether the store is converted.
  private let isView: Bool
  private static var marker: String { ".converting" }
  /// The locations of the store and of the directory beside it.
  private var location: FileLocation { parent.file(lastComponent(path)) }
  private var workLocation: FileLocation { parent.file(lastComponent(workPath)) }
  /// The contents of the markers, for the old and the new store.
  private static var old: [UInt8] { Array("old".utf8) }
  private static var new: [UInt8] { Array("new".utf8) }

  /// Prepares the conversion from one key to another; nil means no encryption.
  init(
    _ directory: String, from oldKey: (any StoreKey)?, to newKey: (any StoreKey)?,
    in fileSystem: any FileSystem = SystemFiles.shared,
    view: ((any StoreBackend) -> any StoreBackend)? = nil
  ) throws(StoreError) {
    let path = try systemErrors(at: directory) { try realPath(directory, in: fileSystem) }
    self.path = path
    workPath = path + ".converting"
    parent = try systemErrors(at: path) {
      try DirectoryHandle(FileLocation(directoryName(path), in: fileSystem))
    }
    (self.oldKey, self.newKey) = (oldKey, newKey)
    self.view = view ?? { $0 }
    isView = view != nil
  }

  /// Converts the store, or finishes an interrupted conversion.
  func run(progress: (IntegrityProgress) -> Void) throws(StoreError) {
    let files = try ClassFiles<Format>(writing: path, in: parent.fileSystem)
    defer { files.close() }
    // The exchange must be on the disk before the old store is removed.
    try systemErrors(at: path) { try parent.synchronize() }
    try removeWork()
    if try isConverted(files) { return try systemErrors(at: path) { try unmark() } }
    let source = try LoggedBackend(files: files, key: oldKey)
    try source.checkpoint()
    files.removeSpareLog()
    try checkForForeignFiles(files)
    do {
      let work = try copy(source, progress)
      try source.close(releasingFiles: false)
      try exchange(files.directory.opened(), work)
    } catch {
      try? removeWork()
      throw error
    }
    try systemErrors(at: path) { try parent.synchronize() }
    try removeWork()
    try systemErrors(at: path) { try unmark() }
  }

  /// Whether the store is converted already; throws if the new key is wrong.
  private func isConverted(_ files: ClassFiles<Format>) throws(StoreError) -> Bool {
    guard try (files.keyFile() != nil) == (newKey != nil) else { return false }
    if isView && newKey == nil { return try isMarkedAsNew(files.directory.opened()) }
    _ = try Sealing(files, newKey)
    return true
  }

  // MARK: Copying

  /// Creates the converted store; only its owner can read it meanwhile.
  private func copy(
    _ source: LoggedBackend<Format>, _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> DirectoryHandle {
    let work = try systemErrors(at: workPath) {
      try makeDirectory(workLocation, mode: 0o700)
      let work = try DirectoryHandle(workLocation, followsLink: false)
      try mark(work, Self.new)
      return work
    }
    let target = try LoggedBackend(
      files: ClassFiles<Format>(writing: workPath, in: parent.fileSystem), key: newKey)
    try BackendCopy(from: view(source), to: target).run(progress: progress)
    try target.close()
    try systemErrors(at: workPath) {
      let old = try source.files.directory.opened()
      try work.copyRights(ofFilesIn: old)
      try work.takeRights(of: old)
      try work.synchronize()
    }
    return work
  }

  /// Throws if the directory contains files that would not be copied.
  private func checkForForeignFiles(_ files: ClassFiles<Format>) throws(StoreError) {
    let known = Set(
      try files.filesForManifest().map { files.fileName(ofTable: $0) }
        + files.ordered.names().map(\.fileName)
        + [
          StoreDirectory.log, StoreDirectory.manifest, StoreDirectory.key, Self.marker,
          SharedFile.name,
        ])
    let names = try files.directory.entries()
    let isOwn = {
      known.contains($0) || ExternalFileFormat.id(ofFile: $0) != nil || SegmentName.isSegment($0)
    }
    guard let stranger = names.sorted().first(where: { !isOwn($0) }) else { return }
    throw StoreError(
      .ioError, "\"\(stranger)\" in the directory is not part of the store: move it away first.",
      at: .init(path: path + "/" + stranger))
  }

  // MARK: Names

  private func exchange(_ old: DirectoryHandle, _ work: DirectoryHandle) throws(StoreError) {
    try systemErrors(at: path) {
      try mark(old, Self.old)
      try checkDirectories(old, work)
      try exchangeNames(location, workLocation)
      do {
        try checkDirectories(work, old)
      } catch {
        try? exchangeNames(location, workLocation)
        throw error
      }
    }
  }

  /// Verifies that the two names lead to these directories.
  private func checkDirectories(_ store: DirectoryHandle, _ work: DirectoryHandle) throws {
    guard try FileStatus.find(location)?.identity == store.identity,
      try FileStatus.find(workLocation)?.identity == work.identity
    else {
      throw StoreError(
        .ioError, "The directory was moved or replaced meanwhile: move it back and try again.",
        at: .init(path: path))
    }
  }

  private func isMarkedAsNew(_ store: DirectoryHandle) throws(StoreError) -> Bool {
    let marker = store.file(Self.marker)
    return try systemErrors(at: marker.path) {
      try exists(marker) && firstBytes(of: marker, count: 3) == Self.new
    }
  }

  private func mark(_ directory: DirectoryHandle, _ content: [UInt8]) throws {
    let marker = directory.file(Self.marker)
    try removeFile(marker)
    let file = try StoreFile(creating: marker, rights: .ownerOnly)
    defer { file.close() }
    try file.write(content, at: 0)
    try file.synchronize()
    try directory.synchronize()
  }

  private func unmark() throws(SystemError) {
    try removeFile(DirectoryHandle(location).file(Self.marker))
  }

  /// Removes the leftovers of a conversion beside the store.
  private func removeWork() throws(StoreError) {
    try systemErrors(at: workPath) {
      guard try FileStatus.find(workLocation, followsLink: false) != nil else { return }
      let work = try DirectoryHandle(workLocation, followsLink: false)
      let names = try work.entries()
      guard names.isEmpty || names.contains(Self.marker) else {
        throw StoreError(
          .ioError, "This is in the way, and not part of a conversion: move it away.",
          at: .init(path: workPath))
      }
      // The marker comes last, so that a crash leaves it.
      for name in names where name != Self.marker { try removeFile(work.file(name)) }
      try work.synchronize()
      try removeFile(work.file(Self.marker))
      try removeDirectory(workLocation)
      try parent.synchronize()
    }
  }
}

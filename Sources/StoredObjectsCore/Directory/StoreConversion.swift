import Files

/// Encrypts or decrypts a store in place.
///
///     Music             the store as it is             Music             the store as it is to be
///     Music.converting  a copy, as it is to be   -->   Music.converting  the store as it was
///
/// The one step between is an exchange of two names, so that there is a whole store under its name at any
/// moment, and what lies beside it can be removed at any moment. Both directories have a marker meanwhile,
/// so that nothing is removed that is not ours.
struct StoreConversion<Files: DirectoryFiles> {
  /// The steps, before which tests let the machine die.
  enum Step: Equatable, CaseIterable, Sendable {
    case copy, synchronize, mark, exchange, synchronizeParent, unmark, remove
  }

  private let path: String
  private let workPath: String
  private let (oldKey, newKey): ((any StoreKey)?, (any StoreKey)?)
  /// How the old records are read.
  private let view: (any StoreBackend) -> any StoreBackend
  /// Whether they are others than those of the store, so that it is not converted because its key is.
  private let isView: Bool
  private let seam: (Step) throws -> Void
  private static var marker: String { ".converting" }
  /// What the markers say of the store that they lie in.
  private static var old: [UInt8] { Array("old".utf8) }
  private static var new: [UInt8] { Array("new".utf8) }

  /// Prepares the conversion from one key to another, nil for a store that is not encrypted.
  init(
    _ directory: String, from oldKey: (any StoreKey)?, to newKey: (any StoreKey)?,
    view: ((any StoreBackend) -> any StoreBackend)? = nil,
    seam: @escaping (Step) throws -> Void = { _ in }
  ) throws {
    path = try systemErrors(at: directory) { try realPath(directory) }
    workPath = path + ".converting"
    (self.oldKey, self.newKey) = (oldKey, newKey)
    self.view = view ?? { $0 }
    isView = view != nil
    self.seam = seam
  }

  /// Converts, or finishes what an earlier try has left.
  func run(progress: (IntegrityProgress) -> Void) throws {
    let files = try Files(writing: path)
    defer { try? files.close() }
    // The exchange must be on the disk before the store that it has put away goes.
    try systemErrors(at: path) { try syncDirectory(directoryName(path)) }
    try removeWork()
    if try isConverted(files) { return try systemErrors(at: path) { try unmark() } }
    let source = try LoggedBackend(files: files, key: oldKey)
    try source.checkpoint()
    try refuseStrangers(files)
    do {
      try copy(source, progress)
      // From here on its paths would lead to the new store.
      try source.close(releasingFiles: false)
      try exchange()
    } catch {
      try? removeWork()
      throw error
    }
    try seam(.synchronizeParent)
    try systemErrors(at: path) { try syncDirectory(directoryName(path)) }
    try removeWork()
    try seam(.unmark)
    try systemErrors(at: path) { try unmark() }
  }

  /// Whether the store is as it is to be; a wrong key for that is refused.
  private func isConverted(_ files: Files) throws -> Bool {
    guard try (files.keyFile() != nil) == (newKey != nil) else { return false }
    if isView && newKey == nil { return try isMarkedAsNew() }
    _ = try Sealing(files, newKey)
    return true
  }

  // MARK: Copying

  private func copy(
    _ source: LoggedBackend<Files>, _ progress: (IntegrityProgress) -> Void
  ) throws {
    try systemErrors(at: workPath) {
      try makeDirectories(workPath)
      try mark(workPath, Self.new)
      try copyPermissions(of: path, to: workPath)
    }
    try seam(.copy)
    let target = try LoggedBackend(files: Files(writing: workPath), key: newKey)
    try BackendCopy(from: view(source), to: target).run(progress: progress)
    try target.checkpoint()
    try target.close()
    try seam(.synchronize)
    try systemErrors(at: workPath) { try syncDirectory(workPath) }
  }

  /// Refuses a directory with things in it that would not be copied.
  private func refuseStrangers(_ files: Files) throws {
    let known = Set(
      try files.filesForManifest().map { fileName(files.path(of: $0)) }
        + files.ordered.names().map(\.fileName)
        + [StoreDirectory.log, StoreDirectory.manifest, StoreDirectory.key, Self.marker])
    let names = try systemErrors(at: path) { try directoryEntries(path) }
    guard let stranger = names.sorted().first(where: { !known.contains($0) }) else { return }
    throw StoreError(
      .ioError, "\"\(stranger)\" in the directory is no part of the store: move it away first.",
      at: .init(path: path + "/" + stranger))
  }

  private func fileName(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  // MARK: Names

  private func exchange() throws {
    try seam(.mark)
    try systemErrors(at: path) {
      try mark(path, Self.old)
      try syncDirectory(path)
    }
    try seam(.exchange)
    try systemErrors(at: path) { try exchangeNames(path, workPath) }
  }

  private func isMarkedAsNew() throws -> Bool {
    let marker = path + "/" + Self.marker
    guard exists(marker) else { return false }
    return try systemErrors(at: marker) { try firstBytes(of: marker, count: 3) == Self.new }
  }

  private func mark(_ directory: String, _ content: [UInt8]) throws {
    let file = try FileStorage(directory + "/" + Self.marker, writable: true)
    try file.write(content, at: 0)
    try file.synchronize()
    file.close()
    try syncDirectory(directory)
  }

  private func unmark() throws { try removeFile(path + "/" + Self.marker) }

  /// Removes what a conversion has left beside the store.
  private func removeWork() throws {
    try seam(.remove)
    guard exists(workPath) else { return }
    try systemErrors(at: workPath) {
      let names = try directoryEntries(workPath)
      guard names.isEmpty || names.contains(Self.marker) else {
        throw StoreError(
          .ioError, "This is in the way, and no part of a conversion: move it away.",
          at: .init(path: workPath))
      }
      // The marker last, so that a crash leaves it.
      for name in names where name != Self.marker { try removeFile(workPath + "/" + name) }
      try syncDirectory(workPath)
      try removeFile(workPath + "/" + Self.marker)
      try removeDirectory(workPath)
      try syncDirectory(directoryName(workPath))
    }
  }
}

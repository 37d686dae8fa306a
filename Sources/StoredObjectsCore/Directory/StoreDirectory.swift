import Files
import Locks

/// A locked directory that holds a store: what its files have in common, whatever their format.
///
/// Beside the files of tables lie the commit log, the manifest, and for moments new files, whose names
/// begin with ``newPrefix``.
package final class StoreDirectory: Sendable {
  /// The file of the commit log.
  package static let log = "Commit.log"
  /// The file that says what the directory must hold.
  package static let manifest = "Commit.manifest"
  /// The file that an encrypted store's key is tried on.
  package static let key = "Commit.key"
  /// The named buffers, as a table is named.
  package static let buffers = "NamedBuffers"
  /// How the names of new files begin that are to take the place of others.
  package static let newPrefix = ".new."

  /// The path, without symbolic links.
  package let path: String
  package let isReadOnly: Bool
  private let lock: Locked<DirectoryLock?>

  /// Opens a directory and locks it, without waiting.
  ///
  /// - Throws: ``StoreError`` with `inUse` or `ioError`.
  package init(_ directory: String, isReadOnly: Bool, createIfMissing: Bool) throws {
    self.isReadOnly = isReadOnly
    let path = try systemErrors(at: directory) {
      if createIfMissing && !isReadOnly { try makeDirectories(directory) }
      return try realPath(directory)
    }
    self.path = path
    lock = Locked(try systemErrors(at: path) { try DirectoryLock(path, shared: isReadOnly) })
  }

  /// Gives the lock back.
  package func unlock() { lock.withLock { $0 = nil } }

  /// The path of a file in it.
  package func path(_ name: String) -> String { path + "/" + name }

  /// The names of all entries.
  package func entries() throws -> [String] {
    try systemErrors(at: path) { try directoryEntries(path) }
  }

  /// Brings the names in it to the disk.
  package func synchronize() throws {
    try systemErrors(at: path) { try lock.withLock { try $0?.synchronize() } }
  }

  // MARK: New files

  /// Refuses what the log can't mean.
  package func check(_ replacement: Replacement) throws {
    guard replacement.newName.hasPrefix(Self.newPrefix), !replacement.newName.contains("/") else {
      throw StoreError(.damaged, "The log names a file that it can't mean.", at: .init(path: path))
    }
  }

  /// Removes new files that will never be published.
  package func discard(_ replacements: [Replacement]) {
    for replacement in replacements { try? removeFile(path(replacement.newName)) }
  }

  /// Removes what a process has left that died while it made new files.
  package func removeStrays() throws {
    try systemErrors(at: path) {
      for name in try directoryEntries(path) where name.hasPrefix(Self.newPrefix) {
        try removeFile(path(name))
      }
    }
  }

  // MARK: The log and the manifest

  /// The file of the commit log; nil when there is none and it is not to be made.
  package func openLog() throws -> (any Storage)? {
    let path = path(Self.log)
    if isReadOnly && !exists(path) { return nil }
    return try systemErrors(at: path) { try FileStorage(path, writable: !isReadOnly) }
  }

  /// Whether there is a log.
  package var hasLog: Bool { exists(path(Self.log)) }

  /// The bytes of the manifest; nil when there is none.
  package func manifest() throws -> [UInt8]? { try Self.manifest(in: path) }

  /// The bytes of the manifest in a directory that need not be a sound store; nil when there is none.
  package static func manifest(in directory: String) throws -> [UInt8]? {
    try content(directory + "/" + manifest)
  }

  /// The bytes of the key file; nil when there is none.
  package func keyFile() throws -> [UInt8]? { try Self.keyFile(in: path) }

  /// The bytes of the key file in a directory that need not be a sound store; nil when there is none.
  package static func keyFile(in directory: String) throws -> [UInt8]? {
    try content(directory + "/" + key)
  }

  private static func content(_ path: String) throws -> [UInt8]? {
    guard exists(path) else { return nil }
    return try systemErrors(at: path) {
      let file = try FileStorage(path, writable: false)
      defer { file.close() }
      return try file.read(file.size(), at: 0)
    }
  }

  /// Writes a manifest under another name, and renames it.
  package func setManifest(_ bytes: [UInt8], durability: Durability) throws {
    try replace(Self.manifest, by: bytes, Self.newPrefix + "manifest", durability)
  }

  /// Writes a key file under another name, and renames it.
  package func setKeyFile(_ bytes: [UInt8]) throws {
    try replace(Self.key, by: bytes, Self.newPrefix + "key", .full)
  }

  private func replace(
    _ name: String, by bytes: [UInt8], _ newName: String, _ durability: Durability
  ) throws {
    let newPath = path(newName)
    try systemErrors(at: newPath) {
      let file = try FileStorage(newPath, writable: true)
      defer { file.close() }
      try file.resize(to: 0)
      try file.write(bytes, at: 0)
      if durability != .none { try file.synchronize() }
      try renameFile(newPath, path(name))
    }
    if durability != .none { try synchronize() }
  }
}

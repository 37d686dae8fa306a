import Files
public import StoredObjectsCore

// The file that tells a lost log or class file from one that never was.
extension TokyoCabinetFiles {
  private var manifestPath: String { location + "/" + Names.manifest }

  /// The bytes of the manifest; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func manifest() throws -> [UInt8]? {
    guard exists(manifestPath) else { return nil }
    return try storeErrors(at: manifestPath) { try allBytes(of: manifestPath) }
  }

  /// Writes a manifest under another name, and renames it.
  ///
  /// - Throws: `StoreError` with `full` or `ioError`.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws {
    let newPath = location + "/" + Names.newPrefix + "manifest"
    try storeErrors(at: manifestPath) {
      let file = try FileStorage(newPath, writable: true)
      defer { file.close() }
      try file.resize(to: 0)
      try file.write(bytes, at: 0)
      if durability != .none { try file.synchronize() }
      try renameFile(newPath, manifestPath)
    }
    if durability != .none { try synchronizeDirectory() }
  }

  /// The names of the class files and of that of the named buffers.
  ///
  /// - Throws: `StoreError` with `ioError` or `damaged`.
  public func filesForManifest() throws -> [String] {
    try fileNames().filter { name in
      guard name == Names.buffers || Names.isTable(name) else { return false }
      return try isHashFile(name)
    }
  }

  /// Whether a file is there, perhaps under the name that a dead writer left it with.
  public func hasFile(_ name: String) throws -> Bool { exists(path(of: name)) }
}

/// The content of a small file.
func allBytes(of path: String) throws -> [UInt8] {
  let file = try FileStorage(path, writable: false)
  defer { file.close() }
  return try file.read(file.size(), at: 0)
}

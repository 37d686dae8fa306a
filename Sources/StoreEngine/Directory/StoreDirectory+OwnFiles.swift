package import Files

// Access to the log, the manifest and the key file.
extension StoreDirectory {
  /// Opens the commit log; nil if it does not exist and the directory is open for reading only.
  package func openLog() throws(StoreError) -> StoreFile? {
    if isReadOnly, try !hasLog() { return nil }
    return try systemErrors(at: path(Self.log)) {
      try StoreFile(
        file(Self.log), writable: !isReadOnly,
        rights: isReadOnly ? .anyone : rights(ofNew: Self.log))
    }
  }

  /// Whether there is a log.
  package func hasLog() throws(StoreError) -> Bool { try hasFile(Self.log) }

  /// Returns the bytes of the manifest; nil if there is none.
  package func manifest() throws(StoreError) -> [UInt8]? { try Self.manifest(in: opened()) }

  /// Returns the bytes of the manifest in a directory, which may be damaged; nil if there is none.
  package static func manifest(in directory: DirectoryHandle) throws(StoreError) -> [UInt8]? {
    try content(directory.file(manifest))
  }

  /// Returns the bytes of the key file; nil if there is none.
  package func keyFile() throws(StoreError) -> [UInt8]? { try Self.keyFile(in: opened()) }

  /// Returns the bytes of the key file in a directory, which may be damaged; nil if there is none.
  package static func keyFile(in directory: DirectoryHandle) throws(StoreError) -> [UInt8]? {
    try content(directory.file(key))
  }

  private static func content(_ location: FileLocation) throws(StoreError) -> [UInt8]? {
    do throws(SystemError) {
      let file = try openFile(location, writable: false)
      defer { file.close() }
      return try file.read(file.size(), at: 0)
    } catch {
      if error.isMissing { return nil }
      throw StoreError(error)
    }
  }

  /// Writes a manifest under another name, and renames it.
  ///
  /// ``synchronize()`` syncs the name.
  package func setManifest(_ bytes: [UInt8], durability: Durability) throws(StoreError) {
    try replace(
      Self.manifest, by: bytes, Self.newPrefix + "manifest", rights(ofNew: Self.manifest),
      durability)
  }

  /// Writes a key file under another name, and renames it.
  ///
  /// Only its owner can read a new key file.
  package func setKeyFile(_ bytes: [UInt8]) throws(StoreError) {
    let old = try systemErrors(at: path(Self.key)) { try FileStatus.find(file(Self.key))?.rights }
    try replace(Self.key, by: bytes, Self.newPrefix + "key", old?.ofKey ?? .ownerOnly, .full)
    try synchronize()
  }

  private func replace(
    _ name: String, by bytes: [UInt8], _ newName: String, _ rights: FileRights,
    _ durability: Durability
  ) throws(StoreError) {
    try systemErrors(at: path(newName)) {
      let new = try file(newName)
      try removeFile(new)
      do {
        let storage = try StoreFile(creating: new, rights: rights)
        defer { storage.close() }
        try storage.write(bytes, at: 0)
        if durability != .none { try storage.synchronize() }
        try renameFile(new, file(name))
      } catch {
        try? removeFile(new)
        throw error
      }
    }
  }
}

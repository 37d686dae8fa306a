package import Files

extension Sealing {
  /// Creates the sealing of a store's files; nil for a store that is not encrypted.
  ///
  /// If there is a key, a store that holds nothing yet is encrypted from now on. Its key file is on
  /// the disk before anything that depends on it.
  ///
  /// - Throws: ``StoreError`` with `encrypted`, `notEncrypted`, `wrongKey`, `damaged` or `ioError`.
  package convenience init?(
    _ files: ClassFiles<some ClassFileFormat>, _ key: (any StoreKey)?
  ) throws(StoreError) {
    if let bytes = try files.keyFile() {
      guard let key else { throw Self.keyNeeded(files.location) }
      self.init(try Self.seal(bytes, key, files.location))
      return
    }
    guard let key else { return nil }
    guard try files.isNew() else {
      throw Self.keyFileMissing(files.location)
    }
    let (seal, content) = try key.makeSeal()
    if !files.isReadOnly { try files.setKeyFile(KeyFile.bytes(content)) }
    self.init(seal)
  }

  /// Creates the sealing of a damaged store's files, for salvaging.
  package convenience init?(
    salvaging directory: DirectoryHandle, _ key: (any StoreKey)?
  ) throws(StoreError) {
    guard let bytes = try StoreDirectory.keyFile(in: directory) else {
      if key == nil { return nil }
      throw Self.keyFileMissing(directory.path)
    }
    guard let key else { throw Self.keyNeeded(directory.path) }
    self.init(try Self.seal(bytes, key, directory.path))
  }

  private static func keyFileMissing(_ path: String) -> StoreError {
    StoreError(
      .notEncrypted,
      """
      The store is not encrypted, or its key file is gone. Encrypt it first, or open it without a \
      key.
      """,
      at: .init(path: path))
  }

  /// Returns the seal that a key file holds.
  package static func seal(
    _ keyFile: [UInt8], _ key: any StoreKey, _ path: String
  ) throws(StoreError) -> any StoreSeal {
    try naming(path) { () throws(StoreError) in
      try key.openSeal(KeyFile.content(keyFile, path: path))
    }
  }

  private static func keyNeeded(_ path: String) -> StoreError {
    StoreError(
      .encrypted, "The store is encrypted: open it with its key.", at: .init(path: path))
  }
}

extension ClassFiles {
  /// Whether nothing has been saved to the files.
  ///
  /// It looks for the log first, because the log is created before anything is saved.
  fileprivate func isNew() throws(StoreError) -> Bool {
    guard try manifest() == nil, try !hasLog() else { return false }
    guard try tableNames().isEmpty else { return false }
    return try bufferNames().isEmpty
  }
}

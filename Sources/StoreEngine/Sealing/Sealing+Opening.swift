package import Files

extension Sealing {
  /// The seal of a store's files; nil for a store that is not encrypted.
  ///
  /// A store that holds nothing yet is encrypted from now on when there is a key. Its key file is
  /// on the disk before anything that needs it.
  ///
  /// - Throws: ``StoreError`` with `encrypted`, `notEncrypted`, `wrongKey`, `damaged` or `ioError`.
  package convenience init?(_ files: some RecordFiles, _ key: (any StoreKey)?) throws(StoreError) {
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

  /// The seal of a wreck.
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

  /// The seal that is in a key file.
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

extension RecordFiles {
  /// Whether nothing has been saved to them.
  ///
  /// The log is looked for first: it is made before anything is saved.
  fileprivate func isNew() throws(StoreError) -> Bool {
    guard try manifest() == nil, try !hasLog() else { return false }
    guard try tableNames().isEmpty else { return false }
    return try bufferNames().isEmpty
  }
}

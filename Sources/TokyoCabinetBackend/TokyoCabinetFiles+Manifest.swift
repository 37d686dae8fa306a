import Files
public import StoreEngine

// The commit log, and the file that tells a lost log or class file from one that never was.
extension TokyoCabinetFiles {
  /// The file of the commit log.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func openLog() throws -> (any Storage)? { try directory.openLog() }

  /// Whether there is a log.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func hasLog() throws -> Bool { try directory.hasLog() }

  /// The bytes of the key file; nil when the store is not encrypted.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func keyFile() throws -> [UInt8]? { try directory.keyFile() }

  /// Whether there is a key file.
  func isEncrypted() throws -> Bool { try directory.hasFile(StoreDirectory.key) }

  /// Writes a key file under another name, and renames it.
  ///
  /// - Throws: `StoreError` with `full` or `ioError`.
  public func setKeyFile(_ bytes: [UInt8]) throws { try directory.setKeyFile(bytes) }

  /// The bytes of the manifest; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func manifest() throws -> [UInt8]? { try directory.manifest() }

  /// Writes a manifest under another name, and renames it.
  ///
  /// - Throws: `StoreError` with `full` or `ioError`.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws {
    try directory.setManifest(bytes, durability: durability)
  }

  /// The names of the class files and of that of the named buffers.
  ///
  /// - Throws: `StoreError` with `ioError` or `damaged`.
  public func filesForManifest() throws -> [String] {
    try fileNames().filter { name in
      guard name == StoreDirectory.buffers || Names.isTable(name) else { return false }
      return try isHashFile(name)
    }
  }

  /// The mark in the file of a table; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func mark(of name: String) throws -> FileMark? {
    try FileMark.ofHashFile(at: directory.file(fileName(ofTable: name)))
  }

  /// The mark in a new file; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func mark(ofNewFile newName: String) throws -> FileMark? {
    try FileMark.ofHashFile(at: directory.file(newName))
  }

  /// The most that this library has the C library read as one piece: 512 MiB.
  public var maximumRecordByteCount: Int { 512 << 20 }

  /// Whether a file is there, perhaps under the name that a dead writer left it with.
  public func hasFile(_ name: String) throws -> Bool {
    try directory.hasFile(fileName(ofTable: name))
  }
}

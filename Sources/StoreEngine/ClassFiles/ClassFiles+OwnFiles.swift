// The files of the directory that have the same bytes in all formats, and the marks of the others.
extension ClassFiles {
  /// The size in bytes that a record, or a named buffer with its name, may have.
  public var maximumRecordByteCount: Int { Format.maximumRecordByteCount }

  /// The file of the commit log.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func openLog() throws(StoreError) -> StoreFile? { try directory.openLog() }

  /// An earlier log; nil when there is none of this epoch.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile? {
    try directory.openEarlierLog(epoch)
  }

  /// Puts a new log in the place of the log.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `reopenNeeded`.
  public func beginLog(
    after epoch: UInt64, isSynced: Bool, _ prepare: (StoreFile) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFile? {
    try directory.beginLog(after: epoch, isSynced: isSynced, prepare)
  }

  /// Removes a log whose saves are in the files.
  public func endEarlierLog(_ epoch: UInt64) { directory.endEarlierLog(epoch) }

  /// Gives back the room that was kept for the next log.
  public func removeSpareLog() { directory.removeSpareLog() }

  /// Whether there is a log.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func hasLog() throws(StoreError) -> Bool { try directory.hasLog() }

  /// The bytes of the key file; nil when the store is not encrypted.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func keyFile() throws(StoreError) -> [UInt8]? { try directory.keyFile() }

  /// Writes a key file under another name, and renames it.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  public func setKeyFile(_ bytes: [UInt8]) throws(StoreError) { try directory.setKeyFile(bytes) }

  /// The bytes of the manifest; nil when there is none.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func manifest() throws(StoreError) -> [UInt8]? { try directory.manifest() }

  /// Writes a manifest under another name, and renames it.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws(StoreError) {
    try directory.setManifest(bytes, durability: durability)
  }

  /// The names of the tables, and of the named buffers, that have files.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func filesForManifest() throws(StoreError) -> [String] { try Array(fileTables()) }

  /// Whether a file is there, perhaps under the name that a dead writer left it with.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func hasFile(_ name: String) throws(StoreError) -> Bool {
    try directory.hasFile(fileName(ofTable: name))
  }

  /// The mark in the file of a table; nil when there is none.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func mark(of name: String) throws(StoreError) -> FileMark? {
    try format.mark(of: location(ofTable: name))
  }

  /// The mark in a new file; nil when there is none.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func mark(ofNewFile newName: String) throws(StoreError) -> FileMark? {
    try format.mark(
      of: ClassFileLocation(
        directory.file(newName), className: newName, isReadOnly: isReadOnly))
  }

  /// Brings the names of all files to the disk.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func synchronizeNames() throws(StoreError) { try directory.synchronize() }

  /// Removes new files that will never be published.
  public func discard(_ replacements: [Replacement]) { directory.discard(replacements) }

  /// Removes what a process has left that died while it made new files.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func removeStrays(keepingLogs epochs: [UInt64]) throws(StoreError) -> [String] {
    try directory.removeStrays(keepingLogs: epochs).compactMap { entry in
      if OrderedFiles.isFile(entry) { return entry }
      return isOther(entry) ? nil : Format.tableName(ofFile: entry)
    }
  }
}

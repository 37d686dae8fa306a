// Access to the files with the same bytes in all formats, and to the marks of the others.
extension ClassFiles {
  /// The maximum size in bytes of a record, or of a named buffer with its name.
  public var maximumRecordByteCount: Int { Format.maximumRecordByteCount }

  /// Opens the commit log.
  ///
  /// Complexity: constant time; opens a file.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func openLog() throws(StoreError) -> StoreFile? { try directory.openLog() }

  /// Opens an earlier log; returns nil if there is none of this epoch.
  ///
  /// Complexity: constant time; opens a file.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile? {
    try directory.openEarlierLog(epoch)
  }

  /// Replaces the log by a new one.
  ///
  /// Complexity: the time of the closure, and one sync of the directory if the names are synced.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `reopenNeeded`.
  public func beginLog(
    after epoch: UInt64, isSynced: Bool, _ prepare: (StoreFile) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFile? {
    try directory.beginLog(after: epoch, isSynced: isSynced, prepare)
  }

  /// Removes a log whose saves are in the files.
  public func endEarlierLog(_ epoch: UInt64) { directory.endEarlierLog(epoch) }

  /// Frees the room that was kept for the next log.
  public func removeSpareLog() { directory.removeSpareLog() }

  /// Returns whether there is a log.
  ///
  /// Complexity: constant time; one call of the system.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func hasLog() throws(StoreError) -> Bool { try directory.hasLog() }

  /// Returns the bytes of the key file; nil if the store is not encrypted.
  ///
  /// Complexity: linear in the size of the key file.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func keyFile() throws(StoreError) -> [UInt8]? { try directory.keyFile() }

  /// Writes a key file under another name, and renames it.
  ///
  /// Complexity: linear in the size of the key file. It waits for the disk twice, for the file and
  /// its name.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  public func setKeyFile(_ bytes: [UInt8]) throws(StoreError) { try directory.setKeyFile(bytes) }

  /// Returns the bytes of the manifest; nil if there is none.
  ///
  /// Complexity: linear in the size of the manifest.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func manifest() throws(StoreError) -> [UInt8]? { try directory.manifest() }

  /// Writes a manifest under another name, and renames it.
  ///
  /// Complexity: linear in the size of the manifest. It waits for the disk unless the durability
  /// level is `none`.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  public func setManifest(_ bytes: [UInt8], durability: Durability) throws(StoreError) {
    try directory.setManifest(bytes, durability: durability)
  }

  /// Returns the names of the tables, and of the named buffers, that have files.
  ///
  /// Complexity: linear in the number of files in the directory, each of which is looked at.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func filesForManifest() throws(StoreError) -> [String] { try Array(fileTables()) }

  /// Returns whether a file exists, possibly under the temporary name that a dead process left.
  ///
  /// Complexity: linear in the number of tables.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func hasFile(_ name: String) throws(StoreError) -> Bool {
    try directory.hasFile(fileName(ofTable: name))
  }

  /// Returns the mark in the file of a table; nil if there is none.
  ///
  /// Complexity: linear in the number of tables, and one read of a few bytes of the file.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func mark(of name: String) throws(StoreError) -> FileMark? {
    try format.mark(of: location(ofTable: name))
  }

  /// Returns the mark in a new file; nil if there is none.
  ///
  /// Complexity: one read of a few bytes of the file.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func mark(ofNewFile newName: String) throws(StoreError) -> FileMark? {
    try format.mark(
      of: ClassFileLocation(
        directory.file(newName), className: newName, isReadOnly: isReadOnly))
  }

  /// Syncs the names of all files.
  ///
  /// Complexity: one sync of the directory.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func synchronizeNames() throws(StoreError) { try directory.synchronize() }

  /// Removes new files that will not be published.
  ///
  /// Complexity: linear in the number of replacements.
  public func discard(_ replacements: [Replacement]) {
    ordered.discardSegments(of: replacements)
    directory.discard(replacements)
  }

  /// Removes new files that a dead process has left.
  ///
  /// Complexity: linear in the number of files in the directory.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func removeStrays(keepingLogs epochs: [UInt64]) throws(StoreError) -> [String] {
    let names = try directory.removeStrays(keepingLogs: epochs)
    try ordered.removeStraySegments(among: names)
    return names.compactMap { entry in
      if OrderedFiles.isFile(entry) { return entry }
      return isOther(entry) ? nil : Format.tableName(ofFile: entry)
    }
  }
}

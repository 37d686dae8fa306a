import Files

extension LoggedBackend {
  /// The options for opening a directory and for the layout of new files in it.
  public typealias Configuration = ClassFileConfiguration<Format>

  /// Opens a directory, and locks it unless it is opened for reading only.
  ///
  /// Unfinished work of an earlier process is finished first. Class files are opened on demand. An
  /// exception is a store that this library opens for writing for the first time, such as one of
  /// BNRPersistence: it gets class files for this machine, as with ``compact(progress:)``. A
  /// damaged file stays as it is.
  ///
  /// A store that is open for reading only stays as its last commit left it, even if others commit.
  /// See <doc:Processes>.
  ///
  /// With a key, a new store is encrypted, and an encrypted store is opened.
  ///
  /// Complexity: linear in the size of the log and in the number of files; an encrypted store also
  /// takes the time of its key. For a store that gets class files for this machine, also linear in
  /// their sizes.
  ///
  /// - Throws: ``StoreError`` with `inUse` if both this backend and another one, in any process,
  ///   open it for writing; `damaged` if saves in the log are damaged; `encrypted`, `notEncrypted`
  ///   or `wrongKey` if the key is not that of the store; `ioError` if the directory does not exist
  ///   or access is denied.
  public convenience init(
    directory: String, configuration: Configuration = .init(),
    limits: CheckpointLimits = .init(), key: (any StoreKey)? = nil
  ) throws(StoreError) {
    if configuration.access == .readOnly,
      let moment = try Self.opened(reading: directory, configuration, key)
    {
      try self.init(frozen: moment)
      return
    }
    let files = try ClassFiles<Format>(directory: directory, configuration: configuration)
    let isNew: Bool
    do {
      isNew = files.isReadOnly ? false : try !files.directory.hasFile(StoreDirectory.manifest)
    } catch {
      files.close()
      throw error
    }
    try self.init(
      files: files, durability: configuration.durability, limits: limits, key: key)
    // Files that other processes have open stay as they are, and are readable.
    if isNew, sharing == nil { try convertForeignFiles() }
  }

  private func convertForeignFiles() throws(StoreError) {
    do {
      let names = try files.foreignTables()
      if names.isEmpty { return }
      _ = try replaceFiles { (mark) throws(StoreError) in
        try files.prepareConversion(of: names, mark: mark, durability: durability)
      }
    } catch {
      // The opening has failed; saves that are not in the files yet remain in the log.
      try? close()
      throw error
    }
  }

  /// Checks a store without its classes and without changing it, even if it does not open.
  ///
  /// The log and the structure of the files are checked first; if they are undamaged,
  /// ``BackendCheck`` follows. Other processes may have the store open and save: the check covers
  /// the store as of one commit.
  ///
  /// Complexity: linear in the size of the files.
  ///
  /// - Throws: ``StoreError`` with `encrypted`, `notEncrypted` or `wrongKey`, or `ioError` if the
  ///   directory can't be read.
  public static func check(
    directory: String, key: (any StoreKey)? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> StoreCheck {
    try check(directory: directory, key: key, in: SystemFiles.shared, progress: progress)
  }
}

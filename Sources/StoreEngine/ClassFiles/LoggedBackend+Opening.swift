import Files

extension LoggedBackend where Files: DirectoryFiles {
  /// How a store's directory is opened, and how new files in it are laid out.
  public typealias Configuration = ClassFileConfiguration<Files.Format>

  /// Opens a directory, and locks it unless it is opened for reading only.
  ///
  /// What an earlier process has left unfinished is finished first. Class files are opened when
  /// they are first needed. But a store that this library opens for writing for the first time,
  /// such as one of BNRPersistence, gets class files of this machine, made like those of
  /// ``compact(progress:)``; one that is damaged stays as it is.
  ///
  /// A store that is opened for reading only is as its last commit left it, for as long as it is
  /// open, whatever others commit. See <doc:Processes>.
  ///
  /// With a key the store is encrypted, if it is new, and opened, if it is encrypted.
  ///
  /// - Throws: ``StoreError`` with `inUse` when another process, or another backend in this one,
  ///   has it open for writing, and so is this one to be; `damaged` when saves in the log are spoilt;
  ///   `encrypted`, `notEncrypted` or `wrongKey` when the key is not that of the store; `ioError`
  ///   when there is no such directory, or no permission.
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
    let files = try Files(directory: directory, configuration: configuration)
    let isNew: Bool
    do {
      isNew = files.isReadOnly ? false : try !files.directory.hasFile(StoreDirectory.manifest)
    } catch {
      try? files.close()
      throw error
    }
    try self.init(
      files: files, durability: configuration.durability, limits: limits, key: key)
    // Files that others have open stay as they are, and can be read.
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
      // The opening has failed; what can't be folded now is in the log.
      try? close()
      throw error
    }
  }

  /// Checks a store that may not even open, without knowing its classes, and without changing it.
  ///
  /// First come the log and the files' structure; what is sound goes on to ``BackendCheck``. Others
  /// may have the store open, and save: the check is of the store as of one commit.
  ///
  /// Complexity: linear in the size of the files.
  ///
  /// - Throws: ``StoreError`` with `encrypted`, `notEncrypted` or `wrongKey`, or `ioError`
  ///   when the directory can't be read.
  public static func check(
    directory: String, key: (any StoreKey)? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> StoreCheck {
    try check(directory: directory, key: key, in: SystemFiles.shared, progress: progress)
  }
}

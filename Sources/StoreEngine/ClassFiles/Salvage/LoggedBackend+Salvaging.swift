package import Files

extension LoggedBackend {
  /// Copies everything readable of a damaged store to a new one, and lists the losses.
  ///
  ///     let report = try TokyoCabinetBackend.salvage(from: "Music", to: "Music salvaged")
  ///     for loss in report.losses { print(loss) }
  ///
  /// The damaged store is only read, by code of this library that checks every byte. In a damaged
  /// class file, the salvage searches for every record; it leaves out records with a wrong
  /// checksum. It rebuilds a lost metadata row from the records. From a damaged log, it copies the
  /// saves before the damage, as one consistent state. It lists later saves without applying them,
  /// because each may depend on the lost one. Commit numbers continue, see <doc:Commits>. A history
  /// keeps the entries that are found, under another ID: a follower of the store begins again.
  ///
  /// Complexity: linear in the size of the files; a few times that if they are damaged. It needs
  /// memory for the saves in the log.
  ///
  /// - Parameters:
  ///   - directory: The damaged store.
  ///   - target: The directory of the new store; it must not exist, or be empty.
  ///   - key: The key of an encrypted store; the new store is encrypted with the same key.
  ///   - progress: Called with the progress of each class.
  /// - Returns: The content of the new store, and the losses.
  /// - Throws: ``StoreError`` with `inUse`, `ioError` (the directory does not exist, or the target
  ///   is not empty) or `noSpace`. Nothing is left in the target then.
  public static func salvage(
    from directory: String, to target: String, key: (any StoreKey)? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> SalvageReport {
    try salvage(from: directory, to: target, key: key, in: SystemFiles.shared, progress: progress)
  }

  /// Salvages a store in a file system.
  package static func salvage(
    from directory: String, to target: String, key: (any StoreKey)?,
    in fileSystem: any FileSystem, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> SalvageReport {
    let source = try SalvageSource(
      directory, key: key, in: fileSystem, fileName: Format.fileName
    ) { (file) throws(StoreError) in
      try Format().mark(of: ClassFileLocation(file, className: file.name, isReadOnly: true))
    }
    defer { withExtendedLifetime(source) {} }
    return try TargetDirectory.make(at: target, like: source.directory) {
      (target) throws(StoreError) in
      var salvage = StoreSalvage<Format>(source, target)
      try salvage.run(progress)
      try continueNumbers(of: salvage.lastCommit, from: source, in: target)
      return salvage.report.named(by: source.seal)
    }
  }

  /// Creates the log of a salvaged store, with the number of the last commit.
  private static func continueNumbers(
    of last: Commit?, from source: SalvageSource, in target: TargetDirectory
  ) throws(StoreError) {
    let files = try ClassFiles<Format>(
      writing: target.temporaryPath, in: source.directory.fileSystem)
    if last == nil, try files.ordered.names().isEmpty { return files.close() }
    let backend = try LoggedBackend(files: files, sealing: source.seal.sealing)
    // An entry may be of a later commit than all that is left of the log.
    let remembered = (try? backend.lastRememberedCommit()) ?? nil
    if let newest = [last, remembered].compactMap(\.self).max(by: { $0.number < $1.number }) {
      try backend.continueNumbers(after: newest)
    }
    try backend.renewHistoryID()
    try backend.close()
  }
}

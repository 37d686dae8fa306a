package import Files

extension LoggedBackend where Files: DirectoryFiles {
  /// Copies all that is still readable of a damaged store into a new one, and lists what was lost.
  ///
  ///     let report = try TokyoCabinetBackend.salvage(from: "Music", to: "Music salvaged")
  ///     for loss in report.losses { print(loss) }
  ///
  /// The damaged store is only read, and by this library's own code, which checks every byte. Of a
  /// damaged class file, every record is looked for; one whose checksum is wrong is left out. A
  /// lost metadata row is made from the records. Of a damaged log, the saves before the damage are
  /// copied, as one good state; later ones are listed, not applied, because each may depend on the
  /// one that is lost. Numbers of commits go on, see <doc:Commits>.
  ///
  /// Complexity: linear in the size of the files; where they are damaged, a few times that. Memory:
  /// the saves in the log.
  ///
  /// - Parameters:
  ///   - directory: The damaged store.
  ///   - target: Where the new store is to be; it must not exist, or be empty.
  ///   - key: What an encrypted store opens with; the new one is encrypted as it is.
  ///   - progress: Hears of each class.
  /// - Returns: What is in the new store, and what is lost.
  /// - Throws: ``StoreError`` with `inUse`, `ioError` (no such directory, or something is in the
  ///   target already) or `noSpace`. Nothing is left in the target then.
  public static func salvage(
    from directory: String, to target: String, key: (any StoreKey)? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> SalvageReport {
    try salvage(from: directory, to: target, key: key, in: SystemFiles.shared, progress: progress)
  }

  /// Salvages a store of a file system.
  package static func salvage(
    from directory: String, to target: String, key: (any StoreKey)?,
    in fileSystem: any FileSystem, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> SalvageReport {
    typealias Format = Files.Format
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

  /// Gives a salvaged store its log, and the number of the last commit.
  private static func continueNumbers(
    of last: Commit?, from source: SalvageSource, in target: TargetDirectory
  ) throws(StoreError) {
    guard let last else { return }
    let files = try Files(writing: target.temporaryPath, in: source.directory.fileSystem)
    let backend = try LoggedBackend(files: files, sealing: source.seal.sealing)
    try backend.continueNumbers(after: last)
    try backend.close()
  }
}

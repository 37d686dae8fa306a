import Files

extension LoggedBackend where Files: DirectoryFiles {
  /// Copies the store, as it is at this moment, into a directory that does not exist yet or is
  /// empty.
  ///
  ///     try backend.backup(to: "Music backup")
  ///
  /// The copy is a store of its own: its class files, and the log with the saves that are in no
  /// class file yet. It is opened once before it gets its name, and is on the disk when this
  /// returns. A copy that could not be finished is removed.
  ///
  /// Commits wait meanwhile, readers go on. Safe on any thread; works on a store that is open for
  /// reading only, too.
  ///
  /// Complexity: linear in the size of all files.
  ///
  /// - Parameters:
  ///   - directory: The target; those above it are made, too.
  ///   - progress: Hears of each file, in bytes.
  /// - Throws: `StoreError` with `ioError` (something is in the target already), `noSpace`, `closed`,
  ///   `reopenNeeded`, or `damaged` when the copy can't be opened.
  public func backup(
    to directory: String, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws {
    try withFilesAtRest { files in
      let source = try files.directory.opened()
      try TargetDirectory.make(at: directory, like: source) { target in
        try files.copyAll(to: target) { progress(naming($0)) }
        let copy = try Files(reading: target.temporaryPath, in: source.fileSystem)
        try LoggedBackend(files: copy, sealing: sealing).close()
      }
    }
  }
}

extension DirectoryFiles {
  /// Copies every file, byte for byte.
  ///
  /// New files that a dead writer has left are among them: the log may say that they count.
  fileprivate func copyAll(
    to target: TargetDirectory, _ progress: (IntegrityProgress) -> Void
  ) throws {
    let source = try directory.opened()
    let names = try directory.entries()
      .filter { !$0.hasPrefix(".") || $0.hasPrefix(StoreDirectory.newPrefix) }
      .filter { !$0.hasPrefix(ScratchFile.prefix) && $0 != StoreDirectory.spareLog }
      .filter { name in try systemErrors(at: location) { try isRegularFile(source.file(name)) } }
      .sorted()
    let sizes = try names.map { try sizeOfFile(at: source.file($0)) }
    var done = 0
    for (name, size) in zip(names, sizes) {
      progress(IntegrityProgress(name, done, of: sizes.reduce(0, +)))
      done += size
      do {
        try target.copy(name, from: source.file(name))
      } catch {
        // A value that no row refers to may go while the others are copied.
        let isGone = try ExternalFileFormat.id(ofFile: name) != nil && !directory.hasFile(name)
        if isGone { continue }
        throw error
      }
      try target.synchronize(name)
    }
    progress(IntegrityProgress("", done, of: done))
  }
}

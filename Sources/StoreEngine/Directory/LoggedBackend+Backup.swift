import Files

extension LoggedBackend {
  /// Copies the store as it is now into a directory, which must be empty or not exist.
  ///
  ///     try backend.backup(to: "Music backup")
  ///
  /// The copy is a store of its own: the class files, and the log with the saves that are not in
  /// them yet. It is opened once before it gets its name, and is on the disk when this method
  /// returns. An incomplete copy is removed.
  ///
  /// Commits wait while it runs; readers continue. Safe on any thread.
  ///
  /// A snapshot, or a store that is open for reading only, is copied record by record, because the
  /// files in the directory may be newer by then. Commits don't wait in that case.
  ///
  /// Complexity: linear in the size of all files.
  ///
  /// - Parameters:
  ///   - directory: The target; missing parent directories are created.
  ///   - progress: Called with the progress of each file, in bytes.
  /// - Throws: `StoreError` with `ioError` (the target is not empty), `noSpace`, `closed`,
  ///   `reopenNeeded`, or `damaged` if the copy can't be opened.
  public func backup(
    to directory: String, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    if isSnapshot { return try copy(to: directory, progress) }
    try withFilesAtRest { (files) throws(StoreError) in
      let source = try files.directory.opened()
      try TargetDirectory.make(at: directory, like: source) { (target) throws(StoreError) in
        try files.copyAll(to: target) { progress(naming($0)) }
        let copy = try ClassFiles<Format>(reading: target.temporaryPath, in: source.fileSystem)
        try LoggedBackend(files: copy, sealing: sealing).close()
      }
    }
  }
}

extension LoggedBackend {
  /// Copies all records into a new store with the same key.
  ///
  /// - Parameters:
  ///   - directory: The target.
  ///   - progress: A closure that gets the progress.
  ///   - finish: A closure that changes the copy before it gets its name.
  /// - Throws: `StoreError`, and errors of the closure.
  func copy(
    to directory: String, _ progress: (IntegrityProgress) -> Void,
    _ finish: (LoggedBackend) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    let source = try files.directory.opened()
    try TargetDirectory.make(at: directory, like: source) { (target) throws(StoreError) in
      let files = try ClassFiles<Format>(writing: target.temporaryPath, in: source.fileSystem)
      let backend: LoggedBackend
      do throws(StoreError) {
        if let key = try StoreDirectory.keyFile(in: source) { try files.setKeyFile(key) }
        backend = try LoggedBackend(files: files, sealing: sealing.map { Sealing($0.seal) })
      } catch {
        files.close()
        throw error
      }
      do throws(StoreError) {
        try BackendCopy(from: self, to: backend).run(progress: progress)
        try finish(backend)
        try backend.close()
      } catch {
        try? backend.close()
        throw error
      }
    }
  }
}

extension ClassFiles {
  /// Copies every file byte by byte.
  ///
  /// This includes new files that a dead process left: the log may refer to them.
  fileprivate func copyAll(
    to target: TargetDirectory, _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) {
    let source = try directory.opened()
    let names = try systemErrors(at: location) {
      try directory.entries()
        .filter { !$0.hasPrefix(".") || $0.hasPrefix(StoreDirectory.newPrefix) }
        .filter { !$0.hasPrefix(ScratchFile.prefix) && $0 != StoreDirectory.spareLog }
        .filter { try isRegularFile(source.file($0)) }
        .sorted()
    }
    let sizes = try names.map { (name) throws(StoreError) in try sizeOfFile(at: source.file(name)) }
    var done = 0
    for (name, size) in zip(names, sizes) {
      progress(IntegrityProgress(name, done, of: sizes.reduce(0, +)))
      done += size
      do {
        try target.copy(name, from: source.file(name))
      } catch {
        // An external value without references may be removed while the others are copied, and a
        // segment that no list names yet.
        let mayVanish = ExternalFileFormat.id(ofFile: name) != nil || SegmentName.isSegment(name)
        if mayVanish, try !directory.hasFile(name) { continue }
        throw error
      }
      try target.synchronize(name)
    }
    progress(IntegrityProgress("", done, of: done))
  }
}

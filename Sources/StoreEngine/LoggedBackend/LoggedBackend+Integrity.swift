import Locks

extension LoggedBackend {
  /// Returns the tables that have records, and the faults of their files.
  ///
  /// Complexity: linear in the size of the files.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func inspect() throws(StoreError) -> StoreInspection {
    try checkOpen()
    try refresh()
    var inspection = try files.inspect()
    inspection.tornTailByteCount = tornTailByteCount
    if !isSnapshot { inspection.findings += try manifestFindings() }
    inspection.findings += try replacedFindings()
    let begunAgain = try state.withLock { $0.clearedTables }
      .map { (table) throws(StoreError) in try files.ordered.name(of: table).fileName }
    inspection.findings += try files.ordered.inspect().filter {
      !begunAgain.contains($0.location.className ?? "")
    }
    let damaged = Set(inspection.findings.compactMap(\.location.className))
    for id in state.withLock({ $0.tables }) {
      let name = try files.name(of: id)
      if !damaged.contains(name), !inspection.tableNames.contains(name) {
        inspection.tableNames.append(name)
      }
    }
    return opened(inspection)
  }

  private func manifestFindings() throws(StoreError) -> [StoreFinding] {
    guard let bytes = try files.manifest() else {
      // Stores of the original have none, and copies that have never been written to have no log
      // either.
      guard sealing != nil, try files.hasLog(), try !files.tableNames().isEmpty else { return [] }
      return [StoreManifest.gone(location)]
    }
    guard let manifest = StoreManifest(bytes) else { return [StoreManifest.spoilt(location)] }
    // If the store is read-only, a checkpoint in the log may be newer than the manifest on disk.
    let current = log.withLock { $0.manifest } ?? manifest
    let (missing, strangers) = try current.differences(
      in: location, hasFile: files.hasAnyFile, mark: files.markOfAnyFile)
    let errors = missing.map { StoreError.fileGone($0, in: location) } + strangers
    return errors.map { StoreFinding(.fileDamaged, $0) }
  }

  /// Frees disk space: folds the log, and rewrites class files without the gaps of deleted and
  /// grown records.
  ///
  /// The additional files of the log are rewritten, too, as a check expects them.
  ///
  /// Commits wait meanwhile, and readers continue. A crash at any moment leaves the old files or
  /// the new.
  ///
  /// Complexity: linear in the size of all files, which are written beside the old ones.
  ///
  /// - Returns: The number of bytes by which the files have become smaller.
  /// - Throws: ``StoreError`` with `readOnly`, `noSpace`, `ioError`, `damaged` or `closed`; in
  ///   these cases nothing has changed. `reopenNeeded` as for ``commit(_:_:)``.
  public func compact(progress: (IntegrityProgress) -> Void = { _ in }) throws(StoreError) -> Int {
    try replaceFiles { (mark) throws(StoreError) in
      try files.prepareCompaction(mark: mark, durability: durability) { progress(naming($0)) }
    }
  }

  /// Folds the log, and replaces files with new ones of the same content.
  ///
  /// - Returns: The number of bytes by which the files have become smaller.
  package func replaceFiles(_ prepare: (FileMark) throws(StoreError) -> Compaction)
    throws(StoreError) -> Int
  {
    try checkProcess()
    if sharing != nil { throw mustBeExclusive }
    return try log.withLock { (log) throws(StoreError) in
      try checkOpen()
      try checkWritable(log)
      return try naming { () throws(StoreError) in
        try checkpoint(&log)
        let compaction = try prepare(mark(log))
        let emptied = files.emptyFiles(among: log.manifest?.files ?? [])
        if !compaction.replacements.isEmpty || !emptied.isEmpty {
          try install(compaction.replacements, emptied: emptied, &log)
        }
        try log.writer?.renewRoom()
        return compaction.bytesSaved
      }
    }
  }

  /// Runs a closure while nobody commits, and the files and the log don't change.
  package func withFilesAtRest<Result: Sendable>(
    _ body: (ClassFiles<Format>) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try whileAlone { () throws(StoreError) in
      try withOwnFilesAtRest(body)
    }
  }

  private func withOwnFilesAtRest<Result: Sendable>(
    _ body: (ClassFiles<Format>) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try checkProcess()
    return try log.withLock { (log) throws(StoreError) in
      try checkOpen()
      if let failure = log.failure { throw failure }
      // A fold that fails leaves the files unchanged.
      if log.fold != nil { try? noting(&log, finishFolding) }
      return try body(files)
    }
  }
}

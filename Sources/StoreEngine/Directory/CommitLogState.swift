import Files

/// The content of a store's commit log.
public struct CommitLogState: Sendable, Hashable {
  /// The size of the log's file, most of which may be room for later saves.
  public let fileSize: Int
  /// The number of saves and checkpoints in the log.
  public let batchCount: Int
  /// The number of saves that are not in the class files yet.
  public let pendingBatchCount: Int
  /// The number of bytes of these saves.
  public let pendingCount: Int
  /// The number of bytes of a last save that a crash has cut off; nil if there is none.
  ///
  /// Such a save was never acknowledged. Opening the store for writing removes it.
  public let tornTailByteCount: Int?
}

extension LoggedBackend {
  /// Returns the content of the commit log; nil if the store has none.
  ///
  /// Commits wait while it runs. Safe on any thread.
  ///
  /// Complexity: linear in the size of the log's file.
  ///
  /// - Throws: `StoreError` with `ioError`, `closed` or `reopenNeeded`.
  public func logState() throws(StoreError) -> CommitLogState? {
    try withFilesAtRest { (files) throws(StoreError) in
      try files.scanLog().map { scan in
        CommitLogState(
          fileSize: scan.fileSize, batchCount: scan.batches.count,
          pendingBatchCount: scan.pendingBatches.count, pendingCount: scan.pendingCount,
          tornTailByteCount: scan.tornByteCount)
      }
    }
  }

  /// Returns the size of the file of a class, or of the named buffers (`NamedBuffers`).
  ///
  /// The size is 0 if there is no such file.
  ///
  /// Complexity: linear in the number of tables, after the commits and the fold that are in
  /// progress.
  ///
  /// - Throws: `StoreError` with `ioError` or `closed`.
  public func fileSize(of name: String) throws(StoreError) -> Int {
    try withFilesAtRest { (files) throws(StoreError) in
      try sizeOfFile(at: files.directory.file(files.fileName(ofTable: fileName(of: name))))
    }
  }
}

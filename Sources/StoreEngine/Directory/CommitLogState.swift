import Files

/// What lies in a store's commit log.
public struct CommitLogState: Sendable, Hashable {
  /// The size of the log's file, most of which may be room for later saves.
  public let fileSize: Int
  /// The number of saves and checkpoints in the log.
  public let batchCount: Int
  /// The number of saves that are in no class file yet.
  public let pendingBatchCount: Int
  /// The bytes of these saves.
  public let pendingCount: Int
  /// The bytes of a last save that a crash has cut off, and that was never acknowledged; nil when
  /// the log ends well.
  ///
  /// Opening the store for writing removes them.
  public let tornTailByteCount: Int?
}

extension LoggedBackend where Files: DirectoryFiles {
  /// What lies in the commit log; nil when the store has none.
  ///
  /// Commits wait meanwhile. Safe on any thread.
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

  /// The size of the file of a class, or of the named buffers (`NamedBuffers`); 0 when it has none.
  ///
  /// - Throws: `StoreError` with `ioError` or `closed`.
  public func fileSize(of name: String) throws(StoreError) -> Int {
    try withFilesAtRest { (files) throws(StoreError) in
      try sizeOfFile(at: files.directory.file(files.fileName(ofTable: fileName(of: name))))
    }
  }
}

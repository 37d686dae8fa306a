import Files

// Where an encrypted store differs: names and bytes on their way to the files, and back.
extension LoggedBackend {
  /// A change set as the files get it; nil where they get it as it is.
  func sealed(_ changes: ChangeSet) throws(StoreError) -> ChangeSet? {
    guard let sealing else { return nil }
    return try sealing.sealed(changes, fileName: files.name)
  }

  /// Batches as the log gets them, which are sealed for their numbers.
  func sealed(
    _ batches: [CommitLogWriter.Batch], _ log: LoggedLog
  ) throws(StoreError) -> [CommitLogWriter.Batch] {
    guard let sealing, let writer = log.writer else { return batches }
    return try batches.enumerated().map { (index, batch) throws(StoreError) in
      let sealed = try sealing.sealed(
        batch.payload, batch.kind, epoch: writer.epoch, sequence: writer.sequence + UInt64(index))
      return (batch.kind, [sealed])
    }
  }

  // MARK: Places

  func scope(of table: TableID, _ sealing: Sealing) throws(StoreError) -> SealedLocation.Scope {
    try sealing.scope(of: table) { () throws(StoreError) in try files.name(of: table) }
  }

  func location(_ rowID: UInt32, _ table: TableID, _ sealing: Sealing) throws(StoreError)
    -> SealedLocation
  {
    sealing.location(rowID, in: try scope(of: table, sealing))
  }

  /// Where a record is, as errors say it.
  func errorLocation(_ rowID: UInt32, _ table: TableID) -> StoreError.Location {
    .init(path: location, className: try? files.name(of: table), rowID: rowID)
  }

  // MARK: Names

  // All of the engine maps names here, and nowhere else.

  /// The name that the files have for a table.
  func sealedName(ofTable name: String) throws(StoreError) -> String {
    guard let sealing else { return name }
    return try sealing.fileName(ofTable: name)
  }

  /// The name that the files have for an ordered table.
  func sealedName(_ name: OrderedTableName) throws(StoreError) -> OrderedTableName {
    OrderedTableName(try sealedName(ofTable: name.name), kind: name.kind)
  }

  /// The name that users know of a table or a buffer; nil for one that this store has not sealed.
  func openedName(_ name: String) -> String? {
    guard let sealing else { return name }
    return sealing.name(name)
  }

  /// The name that users know of an ordered table; nil for one that this store has not sealed.
  func openedName(_ name: OrderedTableName) -> OrderedTableName? {
    openedName(name.name).map { OrderedTableName($0, kind: name.kind) }
  }

  /// An error of the files, by the names that users know.
  func naming(_ error: StoreError) -> StoreError { sealing?.naming(error) ?? error }

  /// Runs calls of the files, and gives their errors the names that users know.
  func naming<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    guard let sealing else { return try body() }
    do {
      return try body()
    } catch {
      throw sealing.naming(error)
    }
  }

  /// Progress of the files, by the names that users know.
  func naming(_ progress: IntegrityProgress) -> IntegrityProgress {
    guard let name = sealing?.name(progress.subject) else { return progress }
    return IntegrityProgress(name, progress.completed, of: progress.total)
  }

  /// The name that the files have for a table; that of the named buffers is always the same.
  func fileName(of name: String) throws(StoreError) -> String {
    name == StoreDirectory.buffers ? name : try sealedName(ofTable: name)
  }

  /// What a look at the files says, by the names that users know.
  func opened(_ inspection: StoreInspection) -> StoreInspection {
    guard let sealing else { return inspection }
    var opened = inspection
    opened.findings = inspection.findings.map { sealing.naming($0) }
    opened.tableNames = []
    for sealed in inspection.tableNames {
      if let name = sealing.name(sealed) {
        opened.tableNames.append(name)
      } else {
        opened.findings.append(
          StoreFinding(
            .notAuthentic, "This store has not sealed the file's name: move it away.",
            at: .init(path: location, className: sealed)))
      }
    }
    if let file = try? files.keyFile(), !KeyFile.isSound(file) {
      opened.findings.append(
        StoreFinding(
          .fileDamaged,
          """
          One of the two copies in the key file is damaged. Change the passphrase, if only to the \
          same one: that writes both.
          """,
          at: .init(path: location + "/" + StoreDirectory.key)))
    }
    return opened
  }
}

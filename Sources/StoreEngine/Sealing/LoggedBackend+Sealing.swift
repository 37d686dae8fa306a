import Files

// The differences of an encrypted store: names and bytes are sealed on their way to the files, and
// opened on their way back.
extension LoggedBackend {
  /// Returns the sealed form of a change set; nil if the store is not encrypted.
  func sealed(_ changes: ChangeSet) throws(StoreError) -> ChangeSet? {
    guard let sealing else { return nil }
    return try sealing.sealed(changes, fileName: files.name)
  }

  /// Returns batches in the form that the log stores, each sealed for its sequence number.
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

  /// Returns the location of a record for errors.
  func errorLocation(_ rowID: UInt32, _ table: TableID) -> StoreError.Location {
    .init(path: location, className: try? files.name(of: table), rowID: rowID)
  }

  // MARK: Names

  // The engine maps names here, and nowhere else.

  /// Returns the name of a table in the files.
  func sealedName(ofTable name: String) throws(StoreError) -> String {
    guard let sealing else { return name }
    return try sealing.fileName(ofTable: name)
  }

  /// Returns the name of an ordered table in the files.
  func sealedName(_ name: OrderedTableName) throws(StoreError) -> OrderedTableName {
    OrderedTableName(try sealedName(ofTable: name.name), kind: name.kind)
  }

  /// Returns the user-visible name of a table or a buffer; nil if this store did not seal it.
  func openedName(_ name: String) -> String? {
    guard let sealing else { return name }
    return sealing.name(name)
  }

  /// Returns the user-visible name of an ordered table; nil if this store did not seal it.
  func openedName(_ name: OrderedTableName) -> OrderedTableName? {
    openedName(name.name).map { OrderedTableName($0, kind: name.kind) }
  }

  /// Returns an error of the files with user-visible names.
  func naming(_ error: StoreError) -> StoreError { sealing?.naming(error) ?? error }

  /// Runs calls of the files, and replaces the names in their errors by user-visible ones.
  func naming<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    guard let sealing else { return try body() }
    do {
      return try body()
    } catch {
      throw sealing.naming(error)
    }
  }

  /// Returns progress of the files with user-visible names.
  func naming(_ progress: IntegrityProgress) -> IntegrityProgress {
    guard let name = sealing?.name(progress.subject) else { return progress }
    return IntegrityProgress(name, progress.completed, of: progress.total)
  }

  /// Returns the name of a table in the files; the name for all named buffers never changes.
  func fileName(of name: String) throws(StoreError) -> String {
    name == StoreDirectory.buffers ? name : try sealedName(ofTable: name)
  }

  /// Returns the inspection of the files with user-visible names.
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
          One of the two copies in the key file is damaged. Change the passphrase, to the same one \
          if you like: that writes both.
          """,
          at: .init(path: location + "/" + StoreDirectory.key)))
    }
    return opened
  }
}

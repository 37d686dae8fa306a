import Files

extension Sealing {
  /// A change set as the files get it: each record sealed for its row.
  ///
  /// Complexity: linear in the change set; a microsecond or two for each record, by two
  /// threads when there are many.
  func sealed(
    _ changes: ChangeSet, fileName: (TableID) throws -> String
  ) throws -> ChangeSet {
    var sealed = ChangeSet()
    for table in changes.tables where !table.records.isEmpty {
      let scope = try scope(of: table.table) { try fileName(table.table) }
      let part = try SealedRecords.seal(table.records, of: changes, in: scope, by: self)
      let records = part.records(behind: sealed.bytes.count)
      if sealed.bytes.isEmpty { sealed.bytes = part.bytes } else { sealed.bytes += part.bytes }
      sealed.tables.append(.init(table: table.table, records: records))
    }
    for change in changes.names {
      let key = try key(ofBuffer: change.name)
      let range = try append(change.range, of: changes, location(ofBuffer: key), to: &sealed.bytes)
      sealed.names.append(.init(name: key, range: range))
    }
    copyKeys(of: changes, to: &sealed)
    return sealed
  }

  /// Takes keys over as they are: the log is sealed around them, and so are the pages of their
  /// files.
  private func copyKeys(of changes: ChangeSet, to sealed: inout ChangeSet) {
    for table in changes.ordered where !table.isEmpty {
      var copied = ChangeSet.OrderedTableChanges(
        table: table.table, clearsFirst: table.clearsFirst)
      copied.changes.reserveCapacity(table.changes.count)
      for change in table.changes {
        let start = sealed.bytes.count
        sealed.bytes += changes.bytes[change.key.lowerBound..<change.value.upperBound]
        copied.changes.append(change.moved(by: start - change.start))
      }
      sealed.ordered.append(copied)
    }
  }

  private func append(
    _ range: Range<Int>?, of changes: ChangeSet, _ location: SealedLocation, to bytes: inout [UInt8]
  ) throws -> Range<Int>? {
    guard let range else { return nil }
    let start = bytes.count
    try changes.bytes.lend(range) { try seal.seal($0, at: location, to: &bytes) }
    return start..<bytes.count
  }
}

// MARK: - The log

extension Sealing {
  /// A batch of the log, sealed as a whole for its number: who can change files can't put it
  /// elsewhere in the log, nor learn which rows it changes.
  func sealed(
    _ payload: [[UInt8]], _ kind: CommitLogFormat.Kind, epoch: UInt64, sequence: UInt64
  ) throws -> [UInt8] {
    let plain = payload.count == 1 ? payload[0] : Array(payload.joined())
    var sealed: [UInt8] = []
    sealed.reserveCapacity(plain.count + seal.overhead)
    try plain.lend { try seal.seal($0, at: Self.location(kind, epoch, sequence), to: &sealed) }
    return sealed
  }

  /// The payload of a batch.
  ///
  /// - Throws: ``StoreError`` with `notAuthentic`.
  func opened(
    _ payload: [UInt8], _ kind: CommitLogFormat.Kind, epoch: UInt64, sequence: UInt64,
    _ error: StoreError.Location
  ) throws -> [UInt8] {
    var plain: [UInt8] = []
    plain.reserveCapacity(payload.count)
    try payload.lend { try open($0, Self.location(kind, epoch, sequence), to: &plain) { error } }
    return plain
  }

  private static func location(
    _ kind: CommitLogFormat.Kind, _ epoch: UInt64, _ sequence: UInt64
  ) -> SealedLocation {
    SealedLocation(.batch, in: .init(epoch, UInt64(kind.rawValue)), number: sequence)
  }
}

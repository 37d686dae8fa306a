import Files

extension Sealing {
  /// Returns a change set in the form that the files store: each record sealed for its row.
  ///
  /// Complexity: linear in the change set; a microsecond or two per record, on two threads if there
  /// are many.
  package func sealed(
    _ changes: ChangeSet, fileName: (TableID) throws(StoreError) -> String
  ) throws(StoreError) -> ChangeSet {
    var sealed = ChangeSet()
    for table in changes.tables where !table.records.isEmpty {
      let scope = try scope(of: table.table) { () throws(StoreError) in
        try fileName(table.table)
      }
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

  /// Copies keys unsealed: the log seals the whole batch, and the files seal their pages.
  fileprivate func copyKeys(of changes: ChangeSet, to sealed: inout ChangeSet) {
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
  ) throws(StoreError) -> Range<Int>? {
    guard let range else { return nil }
    let start = bytes.count
    try changes.bytes.lend(range) { (plain) throws(StoreError) in
      try seal.seal(plain, at: location, to: &bytes)
    }
    return start..<bytes.count
  }
}

// MARK: - Commits of other processes

extension LoggedBackend {
  /// Returns the change set that a sealed one was made from.
  ///
  /// - Throws: ``StoreError`` with `notAuthentic`.
  func opened(_ stored: ChangeSet) throws(StoreError) -> ChangeSet {
    guard let sealing else { return stored }
    var opened = ChangeSet()
    for table in stored.tables {
      let scope = try scope(of: table.table, sealing)
      let records = try table.records.map { (record) throws(StoreError) in
        let start = opened.bytes.count
        if record.kind != .delete {
          try stored.bytes.lend(record.range) { (sealed) throws(StoreError) in
            try sealing.open(
              sealed, sealing.location(record.rowID, in: scope), to: &opened.bytes
            ) { errorLocation(record.rowID, table.table) }
          }
        }
        return ChangeSet.RecordChange(
          kind: record.kind, rowID: record.rowID, range: start..<opened.bytes.count)
      }
      opened.tables.append(.init(table: table.table, records: records))
    }
    for change in stored.names {
      let start = opened.bytes.count
      if let range = change.range {
        try stored.bytes.lend(range) { (sealed) throws(StoreError) in
          try sealing.open(sealed, sealing.location(ofBuffer: change.name), to: &opened.bytes) {
            .init(path: location, className: StoreDirectory.buffers)
          }
        }
      }
      let range = change.range == nil ? nil : start..<opened.bytes.count
      opened.names.append(.init(name: openedName(change.name) ?? change.name, range: range))
    }
    sealing.copyKeys(of: stored, to: &opened)
    return opened
  }
}

// MARK: - The log

extension Sealing {
  /// Seals a batch of the log as a whole, for its sequence number.
  ///
  /// Somebody who can change the files can neither move the batch in the log nor see which rows it
  /// changes.
  func sealed(
    _ payload: [[UInt8]], _ kind: CommitLogFormat.Kind, epoch: UInt64, sequence: UInt64
  ) throws(StoreError) -> [UInt8] {
    let plain = payload.count == 1 ? payload[0] : Array(payload.joined())
    var sealed: [UInt8] = []
    sealed.reserveCapacity(plain.count + seal.overhead)
    try plain.lend { (plain) throws(StoreError) in
      try seal.seal(plain, at: Self.location(kind, epoch, sequence), to: &sealed)
    }
    return sealed
  }

  /// Opens the payload of a batch.
  ///
  /// - Throws: ``StoreError`` with `notAuthentic`.
  func opened(
    _ payload: [UInt8], _ kind: CommitLogFormat.Kind, epoch: UInt64, sequence: UInt64,
    _ error: StoreError.Location
  ) throws(StoreError) -> [UInt8] {
    var plain: [UInt8] = []
    plain.reserveCapacity(payload.count)
    try payload.lend { (sealed) throws(StoreError) in
      try open(sealed, Self.location(kind, epoch, sequence), to: &plain) { error }
    }
    return plain
  }

  private static func location(
    _ kind: CommitLogFormat.Kind, _ epoch: UInt64, _ sequence: UInt64
  ) -> SealedLocation {
    SealedLocation(.batch, in: .init(epoch, UInt64(kind.rawValue)), number: sequence)
  }
}

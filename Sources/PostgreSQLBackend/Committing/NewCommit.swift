import Files
import StoreEngine

/// A commit that stores have to be notified of.
struct NewCommit {
  let commit: Commit
  var changes: ChangeSet
  let request: CommitRequest
  /// The metadata rows in the commit; an empty one was removed.
  var metadata: [(TableID, [UInt8])] = []
}

extension NewCommit {
  /// Reads the changes of a commit: rows, names and keys.
  ///
  /// Of their bytes, only keys and small values of keys are included. The result is nil if the
  /// server has forgotten the changes.
  init?(
    _ commit: Commit, _ answer: QueryResult, _ row: Int, _ backend: PostgreSQLBackend
  ) throws(ServerFailure) {
    if answer.isNull(row, 10) { return nil }
    self.commit = commit
    var request = CommitRequest()
    request.isForeign = true
    self.request = request
    let kinds = try answer.ints(row, 6)
    let names = try answer.texts(row, 7)
    let rows = try Self.rows(answer, row)
    let keys = try Self.keys(answer, row)
    let cleared = Set(try answer.ints(row, 14))
    let metadata = try answer.byteArrays(row, 8)
    var changes = ChangeSet(bytes: keys.bytes)
    for (index, name) in names.enumerated() where index < kinds.count {
      if kinds[index] == Int(Schema.TableKind.records.rawValue) {
        let table = backend.known(try backend.opened(name))
        if let records = rows[index + 1] {
          changes.tables.append(.init(table: table, records: records))
        }
        if index < metadata.count, let bytes = metadata[index] {
          self.metadata.append((table, bytes))
        }
        continue
      }
      let table = backend.known(
        OrderedTableName(try backend.opened(name), number: kinds[index]))
      let own = ChangeSet.OrderedTableChanges(
        table: table, clearsFirst: cleared.contains(index + 1),
        changes: keys.changes[index + 1] ?? [])
      if !own.isEmpty { changes.ordered.append(own) }
    }
    changes.names = try Self.names(answer, row, backend)
    self.changes = changes
  }

  private static func rows(
    _ answer: QueryResult, _ row: Int
  ) throws(ServerFailure) -> [Int: [ChangeSet.RecordChange]] {
    let (rows, kinds) = (try answer.ints(row, 10), try answer.ints(row, 11))
    var found: [Int: [ChangeSet.RecordChange]] = [:]
    for (index, place) in try answer.ints(row, 9).enumerated() {
      guard index < rows.count, index < kinds.count,
        let kind = ChangeSet.Kind(rawValue: UInt8(clamping: kinds[index]))
      else { throw ServerFailure.unexpectedAnswer }
      let change = ChangeSet.RecordChange(
        kind: kind, rowID: UInt32(clamping: rows[index]), range: 0..<0)
      found[place, default: []].append(change)
    }
    return found
  }

  private static func names(
    _ answer: QueryResult, _ row: Int, _ backend: PostgreSQLBackend
  ) throws(ServerFailure) -> [ChangeSet.NameChange] {
    let names = try answer.texts(row, 12)
    let kinds = try answer.ints(row, 13)
    return try zip(names, kinds).map { (name, kind) throws(ServerFailure) in
      .init(name: try backend.opened(name), range: kind == Schema.removal ? nil : 0..<0)
    }
  }

  private static func keys(
    _ answer: QueryResult, _ row: Int
  ) throws(ServerFailure) -> (bytes: [UInt8], changes: [Int: [ChangeSet.KeyChange]]) {
    let (keys, kinds) = (try answer.byteArrays(row, 16), try answer.ints(row, 17))
    let values = try answer.byteArrays(row, 18)
    var bytes: [UInt8] = []
    var found: [Int: [ChangeSet.KeyChange]] = [:]
    for (index, place) in try answer.ints(row, 15).enumerated() {
      guard index < keys.count, index < kinds.count, let key = keys[index] else {
        throw ServerFailure.unexpectedAnswer
      }
      let value = index < values.count ? values[index] ?? [] : []
      let change =
        kinds[index] == Schema.removal
        ? ChangeSet.KeyChange(removing: bytes.count, keyCount: key.count)
        : ChangeSet.KeyChange(putting: bytes.count, keyCount: key.count, valueCount: value.count)
      found[place, default: []].append(change)
      bytes += key + value
    }
    return (bytes, found)
  }
}

extension NewCommit {
  /// Returns the changes of a table with opened keys and small values, whose bytes are appended.
  private func openedKeys(
    _ change: ChangeSet.OrderedTableChanges, _ name: OrderedTableName, _ sealing: ServerSealing,
    to bytes: inout [UInt8]
  ) throws(StoreError) -> ChangeSet.OrderedTableChanges {
    var opened = ChangeSet.OrderedTableChanges(table: change.table, clearsFirst: change.clearsFirst)
    for change in change.changes {
      let key = try sealing.open(Array(changes.bytes[change.key]), of: name)
      // The server remembers only small values, and no bytes for the others.
      let value =
        change.value.isEmpty
        ? []
        : try changes.bytes.lend(change.value) { (value) throws(StoreError) in
          try sealing.open(value, ofKey: key, in: name)
        }
      opened.changes.append(
        change.isRemoval
          ? .init(removing: bytes.count, keyCount: key.count)
          : .init(putting: bytes.count, keyCount: key.count, valueCount: value.count))
      bytes += key + value
    }
    return opened
  }

  /// Returns the commit with its sealed parts opened.
  func opened(
    _ sealing: ServerSealing, _ backend: PostgreSQLBackend
  ) throws(StoreError) -> NewCommit {
    var opened = self
    (opened.changes.bytes, opened.changes.ordered) = ([], [])
    for change in changes.ordered {
      let own = try openedKeys(
        change, backend.name(of: change.table), sealing, to: &opened.changes.bytes)
      opened.changes.ordered.append(own)
    }
    opened.metadata = try metadata.map { (table, row) throws(StoreError) in
      if row.isEmpty { return (table, row) }
      return (
        table,
        try row.lend { (row) throws(StoreError) in
          try sealing.open(row, ClassMetadata.rowID, table, named: backend.name(of: table))
        }
      )
    }
    return opened
  }
}

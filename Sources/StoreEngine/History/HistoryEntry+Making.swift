import Files

/// The state of a store before a commit.
protocol StateBeforeCommit {
  associatedtype Backend: StoreBackend
  var backend: Backend { get }

  /// Returns the name of a table, as users know it.
  func name(of table: TableID) throws(StoreError) -> String
  /// Returns the name of an ordered table, as users know it.
  func name(of table: OrderedTableID) throws(StoreError) -> OrderedTableName
  func record(_ rowID: UInt32, of table: TableID) throws(StoreError) -> [UInt8]?
}

extension StateBeforeCommit {
  fileprivate func buffer(_ name: String) throws(StoreError) -> [UInt8]? {
    try backend.withNamedBuffer(name) { [UInt8](copying: $0) }
  }

  fileprivate func value(
    of key: [UInt8], in table: OrderedTableID
  ) throws(StoreError) -> [UInt8]? {
    try backend.withValue(of: key, in: table) { [UInt8](copying: $0) }
  }

  /// Returns all keys of an ordered table, with their values.
  fileprivate func keys(of table: OrderedTableID) throws(StoreError) -> [[UInt8]: [UInt8]] {
    var keys: [[UInt8]: [UInt8]] = [:]
    _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) { key, value in
      keys[[UInt8](copying: key)] = [UInt8](copying: value)
      return .next
    }
    return keys
  }
}

extension HistoryEntry {
  /// Creates the entry of a commit that is about to be written.
  ///
  /// - Parameters:
  ///   - changes: The commit.
  ///   - commit: Its number and author.
  ///   - state: The store without the commit.
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  init(
    of changes: ChangeSet, _ commit: Commit, over state: some StateBeforeCommit
  ) throws(StoreError) {
    self.init(commit: commit)
    for table in changes.tables {
      let records = try Self.records(changes, table, state)
      if records.isEmpty { continue }
      tables.append(.init(name: try state.name(of: table.table), records: records))
    }
    for change in changes.names {
      let before = try state.buffer(change.name)
      let after = change.range.map { Array(changes.bytes[$0]) }
      if before != after { buffers.append(.init(name: change.name, before: before, after: after)) }
    }
    for table in changes.ordered where !table.isEmpty {
      var found = OrderedTableChanges(name: try state.name(of: table.table))
      if found.name.kind == .index {
        found.add(changes, index: table)
      } else {
        try found.add(changes, table, state)
      }
      if found.isCleared || !found.keys.isEmpty { orderedTables.append(found) }
    }
  }

  private static func records(
    _ changes: ChangeSet, _ table: ChangeSet.TableChanges, _ state: some StateBeforeCommit
  ) throws(StoreError) -> [RecordChange] {
    var found: [RecordChange] = []
    for change in table.records {
      let before =
        change.kind == .insert ? nil : try state.record(change.rowID, of: table.table)
      let after = change.kind == .delete ? nil : Array(changes.bytes[change.range])
      if before == after { continue }
      found.append(.init(rowID: change.rowID, before: before, after: after))
    }
    return found
  }
}

extension HistoryEntry.OrderedTableChanges {
  /// Adds the changes of an index, without its earlier values, which can be rebuilt.
  fileprivate mutating func add(
    _ changes: ChangeSet, index table: ChangeSet.OrderedTableChanges
  ) {
    isCleared = table.clearsFirst
    keys.reserveCapacity(table.changes.count)
    for change in table.changes {
      let after = change.isRemoval ? nil : Array(changes.bytes[change.value])
      keys.append(.init(key: Array(changes.bytes[change.key]), before: nil, after: after))
    }
  }

  fileprivate mutating func add(
    _ changes: ChangeSet, _ table: ChangeSet.OrderedTableChanges, _ state: some StateBeforeCommit
  ) throws(StoreError) {
    var before = table.clearsFirst ? try state.keys(of: table.table) : [:]
    var later: [[UInt8]: [UInt8]?] = before.mapValues { _ in .none }
    for change in table.changes {
      let key = Array(changes.bytes[change.key])
      later[key] = .some(change.isRemoval ? nil : Array(changes.bytes[change.value]))
      if !table.clearsFirst, change.wasThere != false, before[key] == nil {
        before[key] = try state.value(of: key, in: table.table)
      }
    }
    for (key, after) in later where before[key] != after {
      keys.append(.init(key: key, before: before[key], after: after))
    }
    if keys.count > 1 { keys.sort { $0.key.lexicographicallyPrecedes($1.key) } }
  }
}

extension ChangeSet {
  /// Whether a change of the history removes entries, and neither ends it nor has its own entry.
  func onlyShortensHistory(_ history: OrderedTableChanges) -> Bool {
    !history.clearsFirst
      && history.changes.allSatisfy { change in
        change.isRemoval || !HistoryFormat.isKeyOfEntry(bytes[change.key])
      }
  }

  /// Adds the entry of a commit to the history.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - history: The table of the history.
  ///   - values: Finds the list of values outside of records.
  /// - Throws: ``StoreError`` with `tooLarge`, or an error of the closure.
  mutating func add(
    _ entry: HistoryEntry, to history: OrderedTableID,
    values: () throws(StoreError) -> OrderedTableID
  ) throws(StoreError) {
    let value = HistoryFormat.encoded(entry)
    let key = HistoryFormat.key(entry.commit.number)
    guard key.count + value.count <= Self.maximumKeyByteCount else {
      throw Self.tooLarge(
        "The save with its old values", value.count, Self.maximumKeyByteCount,
        "maximumKeyByteCount", .init())
    }
    set(key, to: value, in: history)
    for (key, size) in entry.keysOfDroppedValues() { set(key, to: size, in: try values()) }
  }
}

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

extension HistoryEntryWriter {
  /// Appends the changes of a commit that is about to be written.
  ///
  /// - Parameters:
  ///   - changes: The commit.
  ///   - state: The store without the commit.
  /// - Returns: The keys that the commit has changed in the list of values outside of records.
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  mutating func append(
    _ changes: ChangeSet, over state: some StateBeforeCommit
  ) throws(StoreError) -> [HistoryEntry.KeyChange] {
    var tables = beginList()
    for table in changes.tables {
      try append(to: &tables) { writer throws(StoreError) in
        try writer.append(table, changes, state)
      }
    }
    end(tables)
    var buffers = beginList()
    for change in changes.names {
      let before = try state.buffer(change.name)
      let after = change.range.map { changes.bytes[$0] }
      if !isSame(before, after) { append(change.name, from: before, to: after, in: &buffers) }
    }
    end(buffers)
    var (ordered, values) = (beginList(), [HistoryEntry.KeyChange]())
    for table in changes.ordered where !table.isEmpty {
      try append(to: &ordered) { writer throws(StoreError) in
        try writer.append(table, changes, state, &values)
      }
    }
    end(ordered)
    return values
  }

  private mutating func append(
    _ table: ChangeSet.TableChanges, _ changes: ChangeSet, _ state: some StateBeforeCommit
  ) throws(StoreError) -> Bool {
    append(try state.name(of: table.table))
    var records = beginList()
    for change in table.records {
      let before =
        change.kind == .insert ? nil : try state.record(change.rowID, of: table.table)
      let after = change.kind == .delete ? nil : changes.bytes[change.range]
      if !isSame(before, after) { append(change.rowID, from: before, to: after, in: &records) }
    }
    end(records)
    return !records.isEmpty
  }

  private func isSame(_ before: [UInt8]?, _ after: ArraySlice<UInt8>?) -> Bool {
    guard let before, let after else { return before == nil && after == nil }
    return before[...] == after
  }

  private mutating func append(
    _ table: ChangeSet.OrderedTableChanges, _ changes: ChangeSet, _ state: some StateBeforeCommit,
    _ values: inout [HistoryEntry.KeyChange]
  ) throws(StoreError) -> Bool {
    let name = try state.name(of: table.table)
    let isIndex = name.kind == .index
    append(name.fileName)
    append(isIndex && table.clearsFirst)
    var keys = beginList()
    if isIndex {
      // An index can be rebuilt, so its earlier values are not needed.
      for change in table.changes {
        let after = change.isRemoval ? nil : changes.bytes[change.value]
        append(changes.bytes[change.key], from: nil, to: after, in: &keys)
      }
    } else {
      let changed = try Self.changedKeys(table, changes, state)
      for change in changed {
        append(change.key[...], from: change.before, to: change.after?[...], in: &keys)
      }
      if name == ExternalCatalogue.table { values = changed }
    }
    end(keys)
    return isIndex && table.clearsFirst || !keys.isEmpty
  }

  private static func changedKeys(
    _ table: ChangeSet.OrderedTableChanges, _ changes: ChangeSet, _ state: some StateBeforeCommit
  ) throws(StoreError) -> [HistoryEntry.KeyChange] {
    var before = table.clearsFirst ? try state.keys(of: table.table) : [:]
    var later: [[UInt8]: [UInt8]?] = before.mapValues { _ in .none }
    for change in table.changes {
      let key = Array(changes.bytes[change.key])
      later[key] = .some(change.isRemoval ? nil : Array(changes.bytes[change.value]))
      if !table.clearsFirst, change.wasThere != false, before[key] == nil {
        before[key] = try state.value(of: key, in: table.table)
      }
    }
    return later.filter { before[$0.key] != $0.value }
      .map { HistoryEntry.KeyChange(key: $0.key, before: before[$0.key], after: $0.value) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
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
  ///   - entry: The bytes of the entry.
  ///   - number: The number of the commit, which has no entry yet.
  ///   - history: The table of the history.
  /// - Throws: ``StoreError`` with `tooLarge`.
  mutating func add(
    _ entry: [UInt8], of number: UInt64, to history: OrderedTableID
  ) throws(StoreError) {
    let key = HistoryFormat.key(number)
    guard key.count + entry.count <= Self.maximumKeyByteCount else {
      throw Self.tooLarge(
        "The save with its old values", entry.count, Self.maximumKeyByteCount,
        "maximumKeyByteCount", .init())
    }
    bytes.reserveCapacity(bytes.count + key.count + entry.count)
    setNew(key, to: entry, in: history)
  }

  /// Adds the keys that keep values for the history.
  ///
  /// - Parameters:
  ///   - changed: The keys that the commit has changed in the list of values.
  ///   - number: The number of the commit.
  ///   - list: The list of values outside of records.
  mutating func keep(
    _ changed: [HistoryEntry.KeyChange], of number: UInt64, in list: OrderedTableID
  ) {
    for (id, size) in HistoryEntry.droppedValues(changed) {
      set(ExternalCatalogue.historyKey(id, number), to: size, in: list)
    }
  }
}

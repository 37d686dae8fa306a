import Files

/// The state of a store before a commit.
protocol StateBeforeCommit {
  associatedtype Backend: StoreBackend
  var backend: Backend { get }

  /// Returns the name of a table, as users know it.
  func nameBefore(of table: TableID) throws(StoreError) -> String
  /// Returns the name of an ordered table, as users know it.
  func nameBefore(of table: OrderedTableID) throws(StoreError) -> OrderedTableName
  /// Appends a record to bytes; returns false if there is no such row.
  func appendRecordBefore(
    _ rowID: UInt32, of table: TableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool
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
  ///   - heads: The beginnings of tables in entries, as far as they are known.
  /// - Returns: The keys that the commit has changed in the list of values outside of records.
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  mutating func append(
    _ changes: ChangeSet, over state: some StateBeforeCommit, _ heads: inout TableMap<[UInt8]>
  ) throws(StoreError) -> [HistoryEntry.KeyChange] {
    var tables = beginList()
    for table in changes.tables {
      let start = bytes.count
      try appendHead(of: table.table, state, &heads)
      // The count of the changes ends it.
      var records = List(offset: bytes.count - 4)
      for change in table.records { try append(change, of: table.table, changes, state, &records) }
      end(records)
      if records.isEmpty { bytes.removeSubrange(start...) } else { tables.count += 1 }
    }
    end(tables)
    if changes.names.isEmpty, changes.ordered.isEmpty {
      // Two empty lists.
      bytes.append(littleEndian: UInt64(0))
      return []
    }
    return try appendRest(changes, over: state)
  }

  /// Appends the changes of named buffers and ordered tables.
  private mutating func appendRest(
    _ changes: ChangeSet, over state: some StateBeforeCommit
  ) throws(StoreError) -> [HistoryEntry.KeyChange] {
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

  /// Appends the name of a table and the count of its changes, which is still open.
  private mutating func appendHead(
    of table: TableID, _ state: some StateBeforeCommit, _ heads: inout TableMap<[UInt8]>
  ) throws(StoreError) {
    if let known = heads[table] {
      known.lend { bytes.append(copying: $0) }
      return
    }
    let start = bytes.count
    append(try state.nameBefore(of: table))
    _ = beginList()
    heads[table] = Array(bytes[start...])
  }

  /// Appends the change of a row, unless the row stays as it is.
  private mutating func append(
    _ change: ChangeSet.RecordChange, of table: TableID, _ changes: ChangeSet,
    _ state: some StateBeforeCommit, _ list: inout List
  ) throws(StoreError) {
    let start = bytes.count
    var isThere = false
    if change.kind != .insert {
      appendHead(of: change.rowID, change.kind == .delete ? ChangeKind.removed : ChangeKind.changed)
      isThere = try state.appendRecordBefore(change.rowID, of: table, to: &bytes)
      // A record that is not there may have been read in part.
      if !isThere { bytes.removeSubrange(start...) }
    }
    let before = start + Self.changeHeadSize
    if !isThere {
      if change.kind == .delete { return }
      appendHead(of: change.rowID, ChangeKind.new, change.range.count)
      changes.bytes.lend(change.range) { bytes.append(copying: $0) }
    } else {
      let oldCount = bytes.count - before
      set(UInt32(truncatingIfNeeded: oldCount), at: before - 4)
      if change.kind != .delete, !appendNewPart(changes, change.range, behind: before) {
        bytes.removeSubrange(start...)
        return
      }
    }
    list.count += 1
  }

  /// The size of the fields before the bytes of a change.
  private static let changeHeadSize = 9

  private mutating func appendHead(of rowID: UInt32, _ kind: UInt8, _ count: Int = 0) {
    var head = IntegerBytes()
    head.add(rowID)
    head.add(kind)
    head.add(UInt32(truncatingIfNeeded: count))
    bytes.append(head)
  }

  /// Appends the part in which a record differs from the bytes after an offset; returns false if
  /// they are the same.
  private mutating func appendNewPart(
    _ changes: ChangeSet, _ record: Range<Int>, behind start: Int
  ) -> Bool {
    let oldCount = bytes.count - start
    let ends = bytes.lend(start..<bytes.count) { old in
      changes.bytes.lend(record) { CommonEnds(old, $0) }
    }
    if ends.prefix == oldCount, oldCount == record.count { return false }
    let part = record.lowerBound + ends.prefix..<record.upperBound - ends.suffix
    var head = IntegerBytes()
    head.add(UInt32(truncatingIfNeeded: ends.prefix))
    head.add(UInt32(truncatingIfNeeded: ends.suffix))
    head.add(UInt32(truncatingIfNeeded: part.count))
    bytes.append(head)
    changes.bytes.lend(part) { bytes.append(copying: $0) }
    return true
  }

  private func isSame(_ before: [UInt8]?, _ after: ArraySlice<UInt8>?) -> Bool {
    guard let before, let after else { return before == nil && after == nil }
    return before[...] == after
  }

  private mutating func append(
    _ table: ChangeSet.OrderedTableChanges, _ changes: ChangeSet, _ state: some StateBeforeCommit,
    _ values: inout [HistoryEntry.KeyChange]
  ) throws(StoreError) -> Bool {
    let name = try state.nameBefore(of: table.table)
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
  ///   - entry: The key, which the history does not have, and the entry.
  ///   - history: The table of the history.
  mutating func add(_ entry: [UInt8], to history: OrderedTableID) {
    addNew(entry, keyCount: HistoryFormat.keyCount, in: history)
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

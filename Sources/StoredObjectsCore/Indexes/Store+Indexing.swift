import Locks
import StoreEngine

// Indexes are updated in the save of their objects.

extension Store {
  /// Adds the changes to indexes that the pending changes require.
  ///
  /// Called in the store's turn to commit.
  ///
  /// - Parameters:
  ///   - changes: The change set of the save.
  ///   - request: Gets the keys that must not change, so that values stay unique.
  ///   - mayBuild: Whether no other store commits, so that an index can be built.
  /// - Returns: false if an index seems to need building, and that is not allowed.
  /// - Throws: ``/StoreEngine/StoreError`` with `notUnique`, and any error of reading.
  func addIndexChanges(
    to changes: inout ChangeSet, _ request: inout CommitRequest, mayBuild: Bool
  ) throws(StoreError) -> Bool {
    for entry in classes where !entry.changeCounts.isEmpty {
      try clearStrangeIndexes(of: entry, &changes, &request)
      if entry.indexes.isEmpty { continue }
      var records = SavedRecords(self, entry)
      if try !areUsable(entry, &records) {
        guard mayBuild else { return false }
        for index in entry.indexes { try buildIfNeeded(index, of: entry) }
        try records.readValuesAgain()
      }
      var update = IndexUpdate(self, entry, records)
      try update.run(&changes)
      // A store that is alone has no concurrent commits.
      if !backend.coordinator.isAlone { request.basis?.keys += update.uniqueKeys }
    }
    return true
  }

  /// Whether all indexes of a class are complete, as far as a quick check can tell.
  private func areUsable(
    _ entry: RegisteredClass, _ records: inout SavedRecords
  ) throws(StoreError) -> Bool {
    guard backend.coordinator.isOnServer else {
      for index in entry.indexes where try !isUsable(index, of: entry) { return false }
      return true
    }
    let summary = try records.readFirst()
    return zip(entry.indexes, summary.ordered).allSatisfy {
      isUsable($0, of: entry, $1, summary.recordCount)
    }
  }

  /// Clears the indexes that another program has built, because this program would not update them.
  private func clearStrangeIndexes(
    of entry: RegisteredClass, _ changes: inout ChangeSet, _ request: inout CommitRequest
  ) throws(StoreError) {
    // Other programs may have filled them since.
    for table in try strangeIndexes(of: entry) {
      if try backend.keyCount(in: table, KeyRange()) > 0 {
        changes.clear(table)
      } else if backend.coordinator.isOrderedByServer {
        // It may no longer be empty when the server receives the save.
        request.basis?.keys.append((table, KeyRange()))
      }
    }
  }

  /// Returns the existing indexes of a class that this program does not maintain.
  private func strangeIndexes(of entry: RegisteredClass) throws(StoreError) -> [OrderedTableID] {
    // Read first, so that a table that appears meanwhile is found by the next call.
    let news = backend.coordinator.orderedTableNews
    if let known = entry.strangeIndexes, known.asOf == news { return known.tables }
    let own = Set(entry.indexes.map(\.table))
    let names = try backend.orderedTableNames()
    var tables = try indexTables(of: entry.name, among: names).filter { !own.contains($0) }
    if entry.fullText == nil {
      let name = textTableName(entry.name)
      let table = try backend.orderedTable(name)
      if names.contains(name) || mayBeFilledUnnoticed(table) { tables.append(table) }
    }
    entry.strangeIndexes = (tables, news)
    return tables
  }

  /// Returns the indexes of a class by values of its properties, registered or not.
  func indexTables(
    of className: String, among names: [OrderedTableName]
  ) throws(StoreError) -> [OrderedTableID] {
    let prefix = Self.indexPrefix(className).utf8
    var tables: [OrderedTableID] = []
    for name in names where name.kind == .index && name.name.utf8.starts(with: prefix) {
      tables.append(try backend.orderedTable(name))
    }
    return tables
  }

  /// Whether an ordered table that was empty may get keys without a change of `orderedTableNews`.
  private func mayBeFilledUnnoticed(_ table: OrderedTableID) -> Bool {
    backend.coordinator.isOrderedByServer || backend.coordinator.isKnown(table)
  }

  /// Clears indexes that another program has built while a save was on its way to a server.
  ///
  /// The server determines the order of the two.
  ///
  /// - Parameter news: The value of `orderedTableNews` when the save was prepared.
  func clearLateIndexes(unless news: UInt64) {
    guard backend.coordinator.isOrderedByServer, backend.coordinator.orderedTableNews != news else {
      return
    }
    var (changes, request) = (ChangeSet(), CommitRequest())
    // The save has succeeded. If an index can't be cleared now, a check finds it.
    for entry in classes where !entry.changeCounts.isEmpty {
      try? clearStrangeIndexes(of: entry, &changes, &request)
    }
    if !changes.isEmpty { _ = try? backend.commit(changes, request) }
  }
}

/// The changes that a save makes to the indexes of a class.
private struct IndexUpdate {
  private let store: Store
  private let entry: RegisteredClass
  private let pending: [StoredObject]
  /// The changes of each index.
  private var changes: [ChangeSet.OrderedTableChanges]
  /// For each unique index, the rows of the values that the save writes.
  private var written: [[[UInt8]: UInt32]]
  /// Two objects of the save that have the same values.
  private var duplicate: (index: Int, row: UInt32, other: UInt32)?
  /// Functions that append the only key of an object, for the indexes that have one.
  private let writers: [(StoredObject, inout IndexKey) -> Void]
  /// The saved records of the objects.
  private var records: SavedRecords

  init(_ store: Store, _ entry: RegisteredClass, _ records: SavedRecords) {
    (self.store, self.entry, self.records) = (store, entry, records)
    pending = Array(entry.changed)
    changes = entry.indexes.map { ChangeSet.OrderedTableChanges(table: $0.table) }
    written = entry.indexes.map { _ in [:] }
    writers = entry.indexes.compactMap(\.declaration.writeOnlyKey)
  }

  mutating func run(_ set: inout ChangeSet) throws(StoreError) {
    for number in changes.indices { changes[number].changes.reserveCapacity(pending.count) }
    if isSimple { insert(pending.filter { $0.state.change == .insert }, &set) }
    for object in pending {
      let change = object.state.change
      if isSimple, change == .insert { continue }
      let new = change == .delete ? nil : object
      guard change != .insert else {
        for number in entry.indexes.indices { replace(nil, new, number, &set) }
        continue
      }
      let row = object.rowID
      try records.prepare(row)
      if let old = try store.reading(
        entry, row, { () throws(StoreError) in try records.object(row) })
      {
        for number in entry.indexes.indices { replace(old, new, number, &set) }
      } else {
        try replaceUnreadable(row, new, &set)
      }
    }
    try checkUniqueness()
    set.ordered += changes.filter { !$0.isEmpty }
  }

  /// Whether every object has exactly one key in each index, and no index is unique.
  private var isSimple: Bool { writers.count == entry.indexes.count }

  /// Adds the keys of new objects; if there are many, a second thread makes half of them.
  private mutating func insert(_ new: [StoredObject], _ set: inout ChangeSet) {
    let objects = KeyedObjects(objects: new, writers: writers)
    let isLarge =
      entry.type.isCodedOnAnyThread && TwoThreads.areUseful(for: new.count)
      && new.allSatisfy(\.isReadable)
    let (end, middle) = (new.count, isLarge ? new.count / 2 : new.count)
    let second = isLarge ? JoinedResult { objects.keys(middle..<end) } : nil
    add(objects.keys(0..<middle), &set)
    if middle == end { return }
    add(second?.take() ?? objects.keys(middle..<end), &set)
  }

  private mutating func add(_ keys: KeyedObjects.Keys, _ set: inout ChangeSet) {
    let start = set.bytes.count
    set.bytes += keys.bytes
    for (number, puts) in keys.changes.enumerated() {
      for put in puts {
        changes[number].changes.append(
          .init(putting: start + put.key.lowerBound, keyCount: put.key.count, valueCount: 0))
      }
    }
  }

  private mutating func replace(
    _ old: StoredObject?, _ new: StoredObject?, _ number: Int, _ set: inout ChangeSet
  ) {
    let index = entry.indexes[number]
    let newKeys = new.map(index.declaration.keys) ?? []
    if let old {
      let oldKeys = index.declaration.keys(old)
      let (before, after) = (oldKeys.map(\.bytes), newKeys.map(\.bytes))
      if before != after {
        let kept = Set(after)
        for key in before where !kept.contains(key) { add(key, old.rowID, false, number, &set) }
        let had = Set(before)
        for key in after where !had.contains(key) {
          add(key, old.rowID, true, number, &set)
        }
      }
    } else if let new {
      for key in newKeys { add(key.bytes, new.rowID, true, number, &set) }
    }
    guard index.declaration.isUnique, let new else { return }
    for key in newKeys where !key.isExempt {
      if let other = written[number].updateValue(new.rowID, forKey: key.bytes) {
        duplicate = duplicate ?? (number, new.rowID, other)
      }
    }
  }

  /// Replaces the keys of a damaged record.
  private mutating func replaceUnreadable(
    _ row: UInt32, _ new: StoredObject?, _ set: inout ChangeSet
  ) throws(StoreError) {
    for number in entry.indexes.indices {
      for key in try entry.indexes[number].keys(ofUnreadable: row, store.backend) {
        let start = set.bytes.count
        set.bytes += key
        changes[number].changes.append(.init(removing: start, keyCount: key.count))
      }
      // After the removals: for a key that is removed and added again, the last change counts.
      replace(nil, new, number, &set)
    }
  }

  private mutating func add(
    _ key: [UInt8], _ row: UInt32, _ isPut: Bool, _ number: Int, _ set: inout ChangeSet
  ) {
    let start = set.bytes.count
    RegisteredIndex.appendKey(key, row: row, to: &set.bytes)
    let count = set.bytes.count - start
    changes[number].changes.append(
      isPut
        ? .init(putting: start, keyCount: count, valueCount: 0)
        : .init(removing: start, keyCount: count))
  }

  // MARK: Uniqueness

  /// The keys that no other store may have added meanwhile.
  var uniqueKeys: [(table: OrderedTableID, range: KeyRange)] {
    zip(entry.indexes, written).flatMap { index, rows in
      rows.keys.map { (index.table, RegisteredIndex.range(of: $0)) }
    }
  }

  private func checkUniqueness() throws(StoreError) {
    if let duplicate {
      throw entry.indexes[duplicate.index].notUnique(entry, duplicate.row, duplicate.other)
    }
    if written.allSatisfy(\.isEmpty) { return }
    // The rows that the save rewrites have been compared with each other.
    let rewritten = RowSet(pending.lazy.map(\.rowID))
    for (index, rows) in zip(entry.indexes, written) {
      for (key, row) in rows {
        if let other = try savedRow(with: key, in: index, besides: rewritten) {
          throw index.notUnique(entry, row, other)
        }
      }
    }
  }

  /// Returns a saved row with some values that is not one of the others.
  private func savedRow(
    with key: [UInt8], in index: RegisteredIndex, besides others: RowSet
  ) throws(StoreError) -> UInt32? {
    if let rows = records.rows(with: key, in: index) { return rows.first { !others.contains($0) } }
    var found: UInt32?
    try index.forEachRow(key, store.backend) { row in
      if !others.contains(row) { found = row }
      return found == nil
    }
    return found
  }
}

extension Store {
  /// Returns a saved row as a separate object; nil if there is no such row.
  func savedObject(
    _ rowID: UInt32, _ entry: RegisteredClass
  ) throws(StoreError) -> StoredObject? {
    var buffer = DataBuffer([], store: self)
    do {
      guard try buffer.fill(from: backend, rowID, in: entry.table) else { return nil }
    } catch { throw .wrapping(error, .ioError, at: entry.location(rowID)) }
    return try looseObject(rowID, entry, &buffer)
  }

  /// Creates an object outside of the store with the content of a record.
  func looseObject(
    _ rowID: UInt32, _ entry: RegisteredClass, _ buffer: inout DataBuffer
  ) throws(StoreError) -> StoredObject {
    let object = entry.type.init()
    object.state = []
    object.rowID = rowID
    try decode(object, entry, from: &buffer)
    // Detached, so that its accessors do not look it up and its end does not remove another's
    // entry.
    object.state = [.hasContent, .detached]
    return object
  }
}

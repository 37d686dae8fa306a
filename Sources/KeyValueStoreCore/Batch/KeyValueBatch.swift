import Files
import FoundationEssentials
public import StoreEngine

/// A batch of writes that take effect together, see `KeyValueStore.write(_:)`.
///
/// Reads of the batch see its own changes. Other readers see them when the write has ended. Use
/// tables of the same store only: a table of another store traps.
public struct KeyValueBatch {
  let store: KeyValueStore
  /// The time of all changes in the batch.
  let now: Date
  /// Keys and records, in the form for the backend.
  var bytes: [UInt8] = []
  var tables: [TableBatch] = []
  /// The beginning of a record, while its times are read.
  private var scratch: [UInt8] = []
  /// The pending writes before this one.
  private let earlier: EarlierWrites

  init(_ store: KeyValueStore) {
    (self.store, now) = (store, store.now())
    earlier = EarlierWrites(store.writesUnderWay)
    bytes.reserveCapacity(128)
  }

  /// The pending writes that this batch depends on.
  var basis: [WriteUnderWay] { earlier.basis }

  // MARK: Reading

  /// Returns the value of a key, including the changes of this batch.
  ///
  /// Complexity: O(log n), and linear in the size of the value.
  ///
  /// - Returns: The value, or nil if there is no such key.
  /// - Throws: The errors of ``KeyValueTable/get(_:as:)``.
  public func get<Value: Decodable>(
    _ key: String, from table: KeyValueTable, as type: Value.Type = Value.self
  ) throws(StoreError) -> Value? {
    try item(key, from: table)?.decoded(as: type)
  }

  /// Returns the item of a key, including the changes of this batch; nil if there is no such key.
  ///
  /// Complexity: O(log n), and linear in the size of the value.
  ///
  /// - Throws: The errors of ``KeyValueTable/item(_:)``.
  public func item(_ key: String, from table: KeyValueTable) throws(StoreError) -> KeyValueItem? {
    try check(table)
    if let staged = staged(table.state) {
      if let item = staged.item(Array(key.utf8), in: bytes) {
        return try self.item(item, bytes, key, table)
      }
      if staged.isCleared { return nil }
    }
    switch earlier.find(key, in: table.state) {
    case (.item(let item), let write)?:
      if item.head?.isExpired(now) ?? true { return nil }
      return try self.item(item, write.bytes, key, table)
    case (.cleared, _)?: return nil
    case nil: return try table.item(key, now)
    }
  }

  private func item(
    _ item: TableBatch.Item, _ bytes: [UInt8], _ key: String, _ table: KeyValueTable
  ) throws(StoreError) -> KeyValueItem? {
    if item.head == nil { return nil }
    return try bytes.lend(item.record) { (record) throws(StoreError) in
      try bytes.lend(item.key) { (bytes) throws(StoreError) in
        try KeyValueItem(record, of: bytes, key, table.state)
      }
    }
  }

  /// Returns whether a key exists, including the changes of this batch.
  ///
  /// Complexity: O(log n).
  ///
  /// - Throws: The errors of ``KeyValueTable/contains(_:)``.
  public func contains(_ key: String, in table: KeyValueTable) throws(StoreError) -> Bool {
    try check(table)
    if let staged = staged(table.state) {
      if let item = staged.item(Array(key.utf8), in: bytes) { return item.head != nil }
      if staged.isCleared { return false }
    }
    switch earlier.find(key, in: table.state) {
    case (.item(let item), _)?: return item.head.map { !$0.isExpired(now) } ?? false
    case (.cleared, _)?: return false
    case nil: return try table.contains(key, now)
    }
  }

  // MARK: Writing

  /// Puts a value under a key, and replaces an existing value.
  ///
  /// Complexity: O(log n), and linear in the size of the value.
  ///
  /// - Throws: The errors of `KeyValueTable.put(_:for:expiresAfter:)`.
  @specialized(where Value == String)
  @specialized(where Value == Int)
  @specialized(where Value == Double)
  @specialized(where Value == Bool)
  @specialized(where Value == Data)
  @specialized(where Value == Date)
  public mutating func put<Value: Encodable>(
    _ value: Value, for key: String, in table: KeyValueTable, expiresAfter: Duration? = nil
  ) throws(StoreError) {
    let stored = try table.stored(value, for: key)
    try putStored(stored, for: key, in: table, expiresAfter: expiresAfter)
  }

  /// Puts a value that is encoded already.
  mutating func putStored(
    _ value: StoredValue, for key: String, in table: KeyValueTable, expiresAfter: Duration?
  ) throws(StoreError) {
    try check(table)
    let expiresAt = try expiresAfter.map { (duration) throws(StoreError) in
      let date = now.addingTimeInterval(duration / .seconds(1))
      guard date > now else {
        throw StoreError(
          .invalidExpiry, "An item must expire after now.", table: table.name, key: key)
      }
      return date
    }
    try table.naming(key) { () throws(StoreError) in try put(value, key, table.state, expiresAt) }
  }

  /// Puts an item with its original times, for imports and copies.
  ///
  /// An item that has expired is not put, and an item under its key is deleted.
  ///
  /// Complexity: O(log n), and linear in the size of the value.
  ///
  /// - Throws: The errors of `KeyValueTable.put(_:for:expiresAfter:)`.
  public mutating func put(_ item: KeyValueItem, in table: KeyValueTable) throws(StoreError) {
    try check(table)
    let head = ItemHead(
      createdAt: item.createdAt, updatedAt: item.updatedAt, expiresAt: item.expiresAt)
    if head.isExpired(now) {
      try delete(item.key, from: table)
    } else {
      let target = try item.key.lendUTF8 { (key) throws(StoreError) in
        try self.target(key, table.state)
      }
      try stage(ItemRecord(head: head, value: item.value), target)
    }
  }

  private mutating func put(
    _ value: StoredValue, _ key: String, _ state: TableState, _ expiresAt: Date?
  ) throws(StoreError) {
    let target = try key.lendUTF8 { (key) throws(StoreError) in try self.target(key, state) }
    let created = target.before.flatMap { $0.isExpired(now) ? nil : $0.createdAt } ?? now
    let head = ItemHead(createdAt: created, updatedAt: max(now, created), expiresAt: expiresAt)
    try stage(ItemRecord(head: head, value: value), target)
  }

  private mutating func stage(_ record: ItemRecord, _ target: Target) throws(StoreError) {
    let start = bytes.count
    do {
      try ItemFormat.append(
        record, behindKeyAt: target.key.lowerBound, of: tables[target.table].state.number,
        to: &bytes)
    } catch {
      bytes.removeSubrange(target.key.lowerBound...)
      throw error
    }
    let range = start..<bytes.count
    setExpiry(record.head.expiresAt, target)
    tables[target.table].set(
      .init(
        key: target.key, record: range, head: record.head, kind: .put, wasThere: target.wasThere),
      at: target.item, target.hash)
  }

  private mutating func setExpiry(_ new: Date?, _ target: Target) {
    let old = target.before?.expiresAt
    if new == old { return }
    if let old {
      let key = appendExpiry(old, target.key)
      tables[target.table].expiry.append(.init(removing: key.lowerBound, keyCount: key.count))
    }
    if let new {
      let key = appendExpiry(new, target.key)
      tables[target.table].expiry.append(
        .init(putting: key.lowerBound, keyCount: key.count, valueCount: 0))
    }
  }

  private mutating func appendExpiry(_ date: Date, _ key: Range<Int>) -> Range<Int> {
    let start = bytes.count
    bytes += ExpiryKey.bytes(date, Array(bytes[key]))
    return start..<bytes.count
  }

  /// Deletes a key.
  ///
  /// Complexity: O(log n).
  ///
  /// - Returns: Whether the key existed.
  /// - Throws: The errors of `KeyValueTable.delete(_:)`.
  @discardableResult
  public mutating func delete(_ key: String, from table: KeyValueTable) throws(StoreError) -> Bool {
    try check(table)
    return try key.lendUTF8 { (key) throws(StoreError) in
      try delete(key, table.state, .deleted)
    }
  }

  @discardableResult
  private mutating func delete(
    _ key: RawSpan, _ state: TableState, _ kind: KeyValueChange.Kind
  ) throws(StoreError) -> Bool {
    let target = try target(key, state)
    guard let before = target.before else {
      bytes.removeSubrange(target.key.lowerBound...)
      return false
    }
    let end = target.key.upperBound
    setExpiry(nil, target)
    tables[target.table].set(
      .init(
        key: target.key, record: end..<end, head: nil, kind: kind, wasThere: target.wasThere),
      at: target.item, target.hash)
    return !before.isExpired(now)
  }

  /// Deletes several keys.
  ///
  /// - Returns: The number of keys that existed.
  mutating func delete(_ keys: some Sequence<String>, from table: KeyValueTable) throws(StoreError)
    -> Int
  {
    var count = 0
    for key in keys where try delete(key, from: table) { count += 1 }
    return count
  }

  /// Deletes all keys that begin with a text, in which no character has a special meaning.
  ///
  /// Complexity: O(log n) for each key that is deleted.
  ///
  /// - Returns: The number of keys that existed.
  /// - Throws: The errors of `KeyValueTable.deleteAll(prefix:)`.
  @discardableResult
  public mutating func deleteAll(prefix: String, from table: KeyValueTable) throws(StoreError)
    -> Int
  {
    try check(table)
    let range = KeyRange.prefix(Array(prefix.utf8))
    let staged = staged(table.state)
    var keys = staged?.items.map { Array(bytes[$0.key]) }.filter { range.contains($0) } ?? []
    if staged?.isCleared != true {
      let staged = Set(keys)
      for key in try table.keyBytes(in: range) where !staged.contains(key) { keys.append(key) }
    }
    var count = 0
    for key in keys {
      let isDeleted = try key.lend { (key) throws(StoreError) in
        try delete(key, table.state, .deleted)
      }
      if isDeleted { count += 1 }
    }
    return count
  }

  /// Deletes all items of a table, and keeps the table.
  ///
  /// Complexity: Linear in the number of changes that this batch has made to the table before.
  ///
  /// - Throws: The errors of `KeyValueTable.removeAll()`.
  public mutating func removeAll(from table: KeyValueTable) throws(StoreError) {
    try check(table)
    // The backend decides whether the table has anything to clear, so pending writes must end.
    store.writesUnderWay.waitForAll()
    tables[location(of: table.state)].clear()
  }

  // MARK: Helpers

  private func check(_ table: KeyValueTable) throws(StoreError) {
    precondition(table.store === store, "a table of another store")
    store.noteRead(of: table.name)
    try table.state.check()
  }

  /// Returns the changes to a table, or nil if there are none.
  private func staged(_ state: TableState) -> TableBatch? {
    tables.first { $0.state === state }
  }

  private mutating func location(of state: TableState) -> Int {
    if let known = tables.firstIndex(where: { $0.state === state }) { return known }
    tables.append(TableBatch(state))
    return tables.count - 1
  }

  /// A key that is about to change.
  private struct Target {
    /// The index of the table in the list of tables.
    let table: Int
    /// The position of the key in the bytes of the batch: at their end.
    let key: Range<Int>
    let hash: UInt64
    /// The number of the item, if the batch has changed it before.
    let item: Int?
    let wasThere: Bool
    /// The times of the item in this batch, expired or not; nil if there is no such key.
    let before: ItemHead?
  }

  /// Appends a key to the bytes, and looks up its current state.
  private mutating func target(_ key: RawSpan, _ state: TableState) throws(StoreError) -> Target {
    let table = location(of: state)
    let start = bytes.count
    bytes.append(copying: key)
    let range = start..<bytes.count
    let hash = key.keyHash
    if let item = tables[table].find(key, hash, in: bytes) {
      let known = tables[table].items[item]
      return Target(
        table: table, key: range, hash: hash, item: item, wasThere: known.wasThere,
        before: known.head)
    }
    do {
      let before: ItemHead?
      if tables[table].isCleared {
        before = nil
      } else if !earlier.isEmpty, let known = earlier.head(key, hash, in: tables[table].state) {
        before = known
      } else {
        before = try storedHead(key, hash, table)
      }
      return Target(
        table: table, key: range, hash: hash, item: nil, wasThere: before != nil, before: before)
    } catch {
      bytes.removeSubrange(start...)
      throw error
    }
  }

  /// Returns the times of a stored item, expired or not; nil if there is none.
  ///
  /// A damaged item counts as existing, so that another can replace it.
  private mutating func storedHead(
    _ key: RawSpan, _ hash: UInt64, _ table: Int
  ) throws(StoreError) -> ItemHead? {
    let id = tables[table].state.items
    if tables[table].view == nil { tables[table].view = try store.viewing?.view(of: id) }
    scratch.removeAll(keepingCapacity: true)
    let isThere: Bool
    if let view = tables[table].view {
      isThere = try view.copyValue(
        of: key, hash: hash, atMost: ItemFormat.maximumHeadSize, to: &scratch)
    } else {
      isThere = try store.copyValue(of: [UInt8](copying: key), in: id, to: &scratch)
    }
    guard isThere else { return nil }
    return scratch.lend { ItemFormat.head(of: $0)?.head }
      ?? ItemHead(createdAt: now, updatedAt: now, expiresAt: nil)
  }
}

extension KeyValueBatch {
  /// Deletes some expired items in the tables that the batch changes anyway.
  mutating func sweep(atMost count: Int) throws(StoreError) {
    // The sweep may append to the list of tables, but adds no new table.
    for index in tables.indices where !tables[index].isCleared {
      try sweep(tables[index].state, atMost: count)
    }
  }

  /// Deletes expired items of a table.
  ///
  /// - Returns: The number of items.
  @discardableResult
  mutating func sweep(_ state: TableState, atMost count: Int) throws(StoreError) -> Int {
    var swept = 0
    for expiryKey in try store.expired(state, now, atMost: count) {
      guard expiryKey.count >= ExpiryKey.timeSize else { continue }
      if try sweep(Array(expiryKey[ExpiryKey.timeSize...]), expiryKey, state) { swept += 1 }
    }
    return swept
  }

  /// Deletes an item unless it was put again with another time, or the batch has changed it.
  private mutating func sweep(
    _ key: [UInt8], _ expiryKey: [UInt8], _ state: TableState
  ) throws(StoreError) -> Bool {
    if staged(state)?.item(key, in: bytes) != nil { return false }
    let target = try key.lend { (key) throws(StoreError) in try self.target(key, state) }
    let isDue = ExpiryKey.isTime(target.before?.expiresAt, of: expiryKey)
    bytes.removeSubrange(target.key.lowerBound...)
    if isDue { _ = try key.lend { (key) throws(StoreError) in try delete(key, state, .expired) } }
    return isDue
  }
}

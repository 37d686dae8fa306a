import Files
import FoundationEssentials
import StoredObjectsCore

/// Writes that take effect together, see ``KeyValueStore/write(_:)``.
///
/// The batch sees its own changes; nobody else does until the write is over. Its tables are those of the
/// store that made it: one of another store is a mistake that traps.
public struct KeyValueBatch {
  let store: KeyValueStore
  /// The moment of the whole batch.
  let now: Date
  /// Keys and records, as they go to the backend.
  var bytes: [UInt8] = []
  var tables: [UInt32: TableBatch] = [:]

  init(_ store: KeyValueStore) {
    (self.store, now) = (store, store.now())
  }

  // MARK: Reading

  /// The value of a key, as this batch has left it.
  ///
  /// - Returns: nil when there is no such key.
  /// - Throws: as ``KeyValueTable/get(_:as:)``.
  public func get<Value: Decodable>(
    _ key: String, from table: KeyValueTable, as type: Value.Type = Value.self
  ) throws -> Value? {
    try item(key, from: table)?.decoded(as: type)
  }

  /// A key with its value and times, as this batch has left it; nil when there is no such key.
  ///
  /// - Throws: as ``KeyValueTable/item(_:)``.
  public func item(_ key: String, from table: KeyValueTable) throws -> KeyValueItem? {
    try check(table)
    let place = ItemPlace(table: table.state.number, key: Array(key.utf8))
    if let change = tables[place.table]?.items[ItemKey(place.key)] {
      guard let range = change.record else { return nil }
      return try bytes.lend(range) { try KeyValueItem($0, place, key, table.state) }
    }
    if tables[place.table]?.isCleared == true { return nil }
    return try table.item(place, key, now)
  }

  /// Whether there is a key, as this batch has left it.
  ///
  /// - Throws: as ``KeyValueTable/contains(_:)``.
  public func contains(_ key: String, in table: KeyValueTable) throws -> Bool {
    try check(table)
    return try head(of: Array(key.utf8), table.state).map { !$0.isExpired(now) } ?? false
  }

  // MARK: Writing

  /// Puts a value under a key, over what is there.
  ///
  /// - Throws: as ``KeyValueTable/put(_:for:expiresAfter:)``.
  public mutating func put<Value: Encodable>(
    _ value: Value, for key: String, in table: KeyValueTable, expiresAfter: Duration? = nil
  ) throws {
    try check(table)
    let expiresAt = try expiresAfter.map { duration in
      let date = now.addingTimeInterval(duration / .seconds(1))
      guard date > now else {
        throw KeyValueError(
          .invalidExpiry, "An item must expire after now.", table: table.name, key: key)
      }
      return date
    }
    do {
      try put(StoredValue(encoding: value), Array(key.utf8), table.state, expiresAt)
    } catch let error as KeyValueError where error.table == nil {
      throw KeyValueError(
        error.code, error.message, table: table.name, key: key, underlying: error.underlying)
    }
  }

  /// Puts an item as it was elsewhere, with its times; for imports and copies.
  ///
  /// An item that has expired by now is not put, and what is under its key is deleted.
  ///
  /// - Throws: as ``KeyValueTable/put(_:for:expiresAfter:)``.
  public mutating func put(_ item: KeyValueItem, in table: KeyValueTable) throws {
    try check(table)
    let head = ItemHead(
      createdAt: item.createdAt, updatedAt: item.updatedAt, expiresAt: item.expiresAt)
    if head.isExpired(now) {
      try delete(item.key, from: table)
    } else {
      try stage(ItemRecord(head: head, value: item.value), Array(item.key.utf8), table.state)
    }
  }

  private mutating func put(
    _ value: StoredValue, _ key: [UInt8], _ state: TableState, _ expiresAt: Date?
  ) throws {
    let before = try head(of: key, state)
    let created = before.flatMap { $0.isExpired(now) ? nil : $0.createdAt } ?? now
    let head = ItemHead(createdAt: created, updatedAt: max(now, created), expiresAt: expiresAt)
    try stage(ItemRecord(head: head, value: value), key, state, before)
  }

  private mutating func stage(_ record: ItemRecord, _ key: [UInt8], _ state: TableState) throws {
    try stage(record, key, state, head(of: key, state))
  }

  private mutating func stage(
    _ record: ItemRecord, _ key: [UInt8], _ state: TableState, _ before: ItemHead?
  ) throws {
    let start = bytes.count
    bytes += key
    do {
      try ItemFormat.append(record, at: ItemPlace(table: state.number, key: key), to: &bytes)
    } catch {
      bytes.removeSubrange(start...)
      throw error
    }
    let range = start + key.count..<bytes.count
    setExpiry(record.head.expiresAt, before?.expiresAt, key, state)
    tables[state.number, default: TableBatch(state)].put(ItemKey(key), start, range, record.head)
  }

  private mutating func setExpiry(
    _ new: Date?, _ old: Date?, _ key: [UInt8], _ state: TableState
  ) {
    if new == old { return }
    if let old {
      let expiryKey = ExpiryKey.bytes(old, key)
      tables[state.number, default: TableBatch(state)].expiry.append(
        .init(removing: bytes.count, keyCount: expiryKey.count))
      bytes += expiryKey
    }
    if let new {
      let expiryKey = ExpiryKey.bytes(new, key)
      tables[state.number, default: TableBatch(state)].expiry.append(
        .init(putting: bytes.count, keyCount: expiryKey.count, valueCount: 0))
      bytes += expiryKey
    }
  }

  /// Deletes a key.
  ///
  /// - Returns: whether it was there.
  /// - Throws: as ``KeyValueTable/delete(_:)->Bool``.
  @discardableResult
  public mutating func delete(_ key: String, from table: KeyValueTable) throws -> Bool {
    try check(table)
    return try delete(Array(key.utf8), table.state, .deleted)
  }

  @discardableResult
  private mutating func delete(
    _ key: [UInt8], _ state: TableState, _ kind: KeyValueChange.Kind
  ) throws -> Bool {
    guard let before = try head(of: key, state) else { return false }
    setExpiry(nil, before.expiresAt, key, state)
    tables[state.number, default: TableBatch(state)].delete(ItemKey(key), bytes.count, kind)
    bytes += key
    return !before.isExpired(now)
  }

  /// Deletes all keys that begin with a text, which is taken as it is.
  ///
  /// Complexity: O(log n) for each key that is deleted.
  ///
  /// - Returns: how many were there.
  /// - Throws: as ``KeyValueTable/deleteAll(prefix:)``.
  @discardableResult
  public mutating func deleteAll(prefix: String, from table: KeyValueTable) throws -> Int {
    try check(table)
    let range = KeyRange.prefix(Array(prefix.utf8))
    let number = table.state.number
    var keys = tables[number]?.items.keys.map(\.bytes).filter { range.contains($0) } ?? []
    if tables[number]?.isCleared != true {
      let staged = Set(keys)
      for key in try table.keyBytes(in: range) where !staged.contains(key) { keys.append(key) }
    }
    var count = 0
    for key in keys where try delete(key, table.state, .deleted) { count += 1 }
    return count
  }

  /// Deletes all items of a table, the table stays.
  ///
  /// Complexity: linear in what this batch has done to the table before.
  ///
  /// - Throws: as ``KeyValueTable/removeAll()``.
  public mutating func removeAll(from table: KeyValueTable) throws {
    try check(table)
    tables[table.state.number, default: TableBatch(table.state)].clear()
  }

  // MARK: Helpers

  private func check(_ table: KeyValueTable) throws {
    precondition(table.store === store, "a table of another store")
    try table.state.check()
  }

  /// The times of an item as the batch has left it, expired or not; nil when there is none.
  ///
  /// An item that makes no sense counts as none, so that another can be put in its place.
  func head(of key: [UInt8], _ state: TableState) throws -> ItemHead? {
    if let change = tables[state.number]?.items[ItemKey(key)] { return change.head }
    if tables[state.number]?.isCleared == true { return nil }
    return try store.backend.withValue(of: key, in: state.items) { bytes in
      ItemFormat.head(of: bytes)?.head ?? ItemHead(createdAt: now, updatedAt: now, expiresAt: nil)
    }
  }
}

extension KeyValueBatch {
  /// Deletes some of what has expired in the tables that the batch changes anyway.
  mutating func sweep(atMost count: Int) throws {
    for state in tables.values.filter({ !$0.isCleared }).map(\.state) {
      try sweep(state, atMost: count)
    }
  }

  /// Deletes what has expired in a table.
  ///
  /// - Returns: how many items.
  @discardableResult
  mutating func sweep(_ state: TableState, atMost count: Int) throws -> Int {
    var found: [[UInt8]] = []
    _ = try store.backend.scanKeys(
      of: state.expiry, ExpiryKey.range(through: now), isReversed: false
    ) { key, _ in
      found.append([UInt8](copying: key))
      return found.count < count ? .next : .pause
    }
    var swept = 0
    for expiryKey in found {
      guard expiryKey.count >= ExpiryKey.timeSize else { continue }
      let key = Array(expiryKey[ExpiryKey.timeSize...])
      // One that has been put again since has another time, and is left alone.
      guard tables[state.number]?.items[ItemKey(key)] == nil,
        let before = try head(of: key, state), ExpiryKey.isTime(before.expiresAt, of: expiryKey)
      else { continue }
      try delete(key, state, .expired)
      swept += 1
    }
    return swept
  }
}

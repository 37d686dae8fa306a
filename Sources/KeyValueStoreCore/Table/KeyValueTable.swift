import Files
import FoundationEssentials
public import StoreEngine

/// A table of a key-value store, with values under keys in order.
///
///     let settings = try store.createTable("settings")
///     try settings.put(12.5, for: "font size")
///     try settings.put(["en", "de"], for: "languages")
///     try settings.put("abc", for: "token", expiresAfter: .seconds(3600))
///     let size = try settings.get("font size", as: Double.self)
///
/// A table is a handle that `KeyValueStore.createTable(_:)` and ``KeyValueStore/table(_:)`` return.
/// It keeps the store alive. You can use it on any thread and task.
public struct KeyValueTable: Sendable {
  /// The store that contains the table.
  public let store: KeyValueStore
  let state: TableState

  /// The name of the table.
  public var name: String { state.name }

  // MARK: One item

  /// Returns the value of a key, decoded as the type that it was put as.
  ///
  /// A `nil` that was put counts as a value. Read it as an optional type:
  /// `get("a", as: String?.self)` returns `.some(nil)` for it.
  ///
  /// Complexity: O(log n), and linear in the size of the value.
  ///
  /// - Returns: The value, or nil if there is no such key.
  /// - Throws: `StoreError` with `typeMismatch` if the value has another type, `noSuchTable`,
  ///   `damaged` or `newerVersion`, and the errors of the backend.
  @specialized(where Value == String)
  @specialized(where Value == Int)
  @specialized(where Value == Double)
  @specialized(where Value == Bool)
  @specialized(where Value == Data)
  @specialized(where Value == Date)
  public func get<Value: Decodable>(
    _ key: String, as type: Value.Type = Value.self
  ) throws(StoreError) -> Value? {
    guard let record = try record(key, nil) else { return nil }
    do {
      return try record.value.decoded(as: type)
    } catch {
      throw error.naming(table: name, key: key)
    }
  }

  /// Returns the value of a key as any type, or nil if there is no such key.
  ///
  /// Complexity: As ``get(_:as:)``.
  ///
  /// - Throws: The errors of ``get(_:as:)``, except `typeMismatch`.
  public func value(for key: String) throws(StoreError) -> StoredValue? { try item(key)?.value }

  /// Returns a key with its value and its times, or nil if there is no such key.
  ///
  /// Complexity: As ``get(_:as:)``.
  ///
  /// - Throws: The errors of ``get(_:as:)``, except `typeMismatch`.
  public func item(_ key: String) throws(StoreError) -> KeyValueItem? {
    try item(key, nil)
  }

  func item(_ key: String, _ now: Date?) throws(StoreError) -> KeyValueItem? {
    try record(key, now).map { KeyValueItem($0, key, state) }
  }

  /// Returns the record of a key, or nil if there is none or it has expired.
  ///
  /// `now` is the time of the batch that reads; nil for a read outside of batches.
  private func record(_ key: String, _ now: Date?) throws(StoreError) -> ItemRecord? {
    var found: ItemRecord?
    try lendItem(key, isBatch: now != nil) { (bytes, item) throws(StoreError) in
      found = try ItemFormat.record(item, of: bytes, key, state)
    }
    guard let found, exists(found.head, now) else { return nil }
    return found
  }

  /// Calls a closure with the bytes of a key and of its item, if there is one.
  ///
  /// The closure verifies the item, and throws if it is wrong.
  @inline(__always)
  func lendItem(
    _ key: String, isBatch: Bool = false,
    verifying body: (RawSpan, RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    try reading(.key(key), isBatch: isBatch) { (_) throws(StoreError) in
      try key.lendUTF8 { (key) throws(StoreError) in
        try store.lendValue(of: key, in: state.items) { (item) throws(StoreError) in
          try body(key, item)
        }
      }
    }
  }

  /// Whether an item has not expired at a time; nil for the time of the call.
  func exists(_ item: ItemHead, _ now: Date? = nil) -> Bool {
    // Most items don't expire, and the clock takes longer than the rest.
    item.expiresAt == nil || !item.isExpired(now ?? store.now())
  }

  /// Returns whether a key exists.
  ///
  /// Complexity: O(log n).
  ///
  /// - Throws: `StoreError` with `noSuchTable`, and the errors of the backend.
  public func contains(_ key: String) throws(StoreError) -> Bool { try contains(key, nil) }

  func contains(_ key: String, _ now: Date?) throws(StoreError) -> Bool {
    let found = try reading(.key(key), isBatch: now != nil) { (backend) throws(StoreError) in
      try backend.withValue(of: Array(key.utf8), in: state.items) { ItemFormat.head(of: $0)?.head }
    }
    guard let head = found else { return false }
    return head.map { exists($0, now) } ?? true
  }

  // MARK: Selections

  /// All items, in key order.
  public var all: KeyValueSelection { KeyValueSelection(self, KeyRange()) }

  /// Returns the items whose keys begin with a text, in which no character has a special meaning.
  ///
  /// Complexity: Constant time; the selection has read nothing yet.
  public func prefix(_ prefix: String) -> KeyValueSelection {
    KeyValueSelection(self, .prefix(Array(prefix.utf8)))
  }

  /// Returns the items whose keys are in a range.
  ///
  /// Keys are ordered by the bytes of their UTF-8, which is the order of Unicode scalar values.
  ///
  /// Complexity: Constant time.
  ///
  /// - Parameters:
  ///   - from: The lower bound, which the range includes.
  ///   - to: The upper bound, which the range does not include; nil for no bound.
  /// - Returns: A selection, which has read nothing yet.
  public func range(from: String = "", to: String? = nil) -> KeyValueSelection {
    KeyValueSelection(self, KeyRange(from: Array(from.utf8), to: to.map { Array($0.utf8) }))
  }

  /// Returns the number of items.
  ///
  /// Complexity: O(log n) plus the number of expired items that are not removed yet.
  ///
  /// - Throws: `StoreError` with `noSuchTable`, and the errors of the backend.
  public func count() throws(StoreError) -> Int { try all.count() }

  // MARK: Helpers

  /// Reads, and checks that the table still exists: another may have its number by now.
  ///
  /// A batch sees the pending writes before it. A read outside of batches waits for them. The range
  /// has the items to read, or the keys of another ordered table of this table.
  func reading<Result>(
    _ range: @autoclosure () -> KeyRange, of table: OrderedTableID? = nil, isBatch: Bool = false,
    _ body: (any StoreBackend) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if !isBatch { store.settleIfWriting() }
    store.noteRead(of: name)
    try state.check()
    do {
      let result = try store.noting(range(), of: table ?? state.items) { () throws(StoreError) in
        try body(store.backend)
      }
      try state.check()
      return result
    } catch {
      try state.check()
      throw error
    }
  }

  /// Returns all keys in a range, including those of expired items.
  func keyBytes(in range: KeyRange) throws(StoreError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    _ = try reading(range) { (backend) throws(StoreError) in
      try backend.scanKeys(of: state.items, range, isReversed: false) { key, _ in
        keys.append([UInt8](copying: key))
        return .next
      }
    }
    return keys
  }
}

extension KeyValueTable: CustomStringConvertible {
  /// The name, for logs.
  public var description: String { "table \(name.debugDescription)" }
}

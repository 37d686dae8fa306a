import Files
import FoundationEssentials
public import StoreEngine

/// A table of a key-value store: get, put, delete, and everything in order.
///
///     let settings = try store.createTable("settings")
///     try settings.put(12.5, for: "font size")
///     try settings.put(["en", "de"], for: "languages")
///     try settings.put("abc", for: "token", expiresAfter: .seconds(3600))
///     let size = try settings.get("font size", as: Double.self)
///
/// It is a handle, made by `KeyValueStore.createTable(_:)` and ``KeyValueStore/table(_:)``, and
/// keeps the store. Safe on any threads and tasks.
public struct KeyValueTable: Sendable {
  /// The store that the table is in.
  public let store: KeyValueStore
  let state: TableState

  /// The name of the table.
  public var name: String { state.name }

  // MARK: One item

  /// The value of a key, as the type that it was put as.
  ///
  /// A `nil` that was put is there, and read by an optional type: `get("a", as: String?.self)`
  /// returns `.some(nil)` for it.
  ///
  /// Complexity: O(log n), and linear in the value.
  ///
  /// - Returns: nil when there is no such key.
  /// - Throws: `StoreError` with `typeMismatch` when the value is of another type,
  ///   `noSuchTable`, `damaged` or `newerVersion`; what the backend throws.
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

  /// The value of a key, whatever it is; nil when there is no such key.
  ///
  /// - Throws: as ``get(_:as:)``, but `typeMismatch`.
  public func value(for key: String) throws(StoreError) -> StoredValue? { try item(key)?.value }

  /// A key with its value and its times; nil when there is no such key.
  ///
  /// - Throws: as ``get(_:as:)``, but `typeMismatch`.
  public func item(_ key: String) throws(StoreError) -> KeyValueItem? {
    try item(key, nil)
  }

  func item(_ key: String, _ now: Date?) throws(StoreError) -> KeyValueItem? {
    try record(key, now).map { KeyValueItem($0, key, state) }
  }

  /// What is stored under a key; nil when there is nothing, or it has expired.
  ///
  /// `now` is the time of the batch that reads; nil for a read outside of batches.
  private func record(_ key: String, _ now: Date?) throws(StoreError) -> ItemRecord? {
    var found: ItemRecord?
    try reading(.key(key), isBatch: now != nil) { (_) throws(StoreError) in
      try key.lendUTF8 { (bytes) throws(StoreError) in
        try store.lendValue(of: bytes, in: state.items) { (value) throws(StoreError) in
          found = try ItemFormat.record(value, of: bytes, key, state)
        }
      }
    }
    guard let found, let expiresAt = found.head.expiresAt else { return found }
    return expiresAt <= now ?? store.now() ? nil : found
  }

  /// Whether there is a key.
  ///
  /// Complexity: O(log n).
  ///
  /// - Throws: `StoreError` with `noSuchTable`; what the backend throws.
  public func contains(_ key: String) throws(StoreError) -> Bool { try contains(key, nil) }

  func contains(_ key: String, _ now: Date?) throws(StoreError) -> Bool {
    let found = try reading(.key(key), isBatch: now != nil) { (backend) throws(StoreError) in
      try backend.withValue(of: Array(key.utf8), in: state.items) { ItemFormat.head(of: $0)?.head }
    }
    guard let head = found else { return false }
    guard let expiresAt = head?.expiresAt else { return true }
    return expiresAt > now ?? store.now()
  }

  // MARK: Selections

  /// All items, in the order of their keys.
  public var all: KeyValueSelection { KeyValueSelection(self, KeyRange()) }

  /// The items whose keys begin with a text.
  ///
  /// The text is taken as it is: no character has a meaning of its own.
  public func prefix(_ prefix: String) -> KeyValueSelection {
    KeyValueSelection(self, .prefix(Array(prefix.utf8)))
  }

  /// The items whose keys are between two.
  ///
  /// Keys are ordered by the bytes of their UTF-8, which is the order of Unicode's numbers.
  ///
  /// - Parameters:
  ///   - from: The first key that may be among them.
  ///   - to: The first that is behind them; nil is behind all.
  /// - Returns: a selection, which has read nothing yet.
  public func range(from: String = "", to: String? = nil) -> KeyValueSelection {
    KeyValueSelection(self, KeyRange(from: Array(from.utf8), to: to.map { Array($0.utf8) }))
  }

  /// The number of items.
  ///
  /// Complexity: O(log n), and linear in the number of items that have expired and are not yet
  /// removed.
  ///
  /// - Throws: `StoreError` with `noSuchTable`; what the backend throws.
  public func count() throws(StoreError) -> Int { try all.count() }

  // MARK: Helpers

  /// Reads, and makes sure that it was this table: its numbers may have become another's.
  ///
  /// A batch knows of the writes before it that aren't visible yet. A read outside of batches waits
  /// for them. The range says which items are read, or which keys of another table of this one.
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

  /// All keys of a range, those of expired items too.
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
  /// The name, for a log.
  public var description: String { "table \(name.debugDescription)" }
}

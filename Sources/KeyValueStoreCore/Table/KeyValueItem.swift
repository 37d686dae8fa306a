public import FoundationEssentials
public import StoreEngine

/// A key with its value and its times.
public struct KeyValueItem: Sendable, Hashable {
  /// The key.
  public let key: String
  /// The value of any type; ``decoded(as:)`` decodes it.
  public let value: StoredValue
  /// The time of the first put; a put after a deletion or an expiry counts as the first.
  public let createdAt: Date
  /// The time of the last put.
  public let updatedAt: Date
  /// The time at which the item expires, or nil if it does not expire.
  public let expiresAt: Date?
  /// The name of the table that it was read from, or an empty string if you created the item.
  let table: String

  /// Creates an item, to put with its times by ``KeyValueBatch/put(_:in:)``.
  public init(
    key: String, value: StoredValue, createdAt: Date, updatedAt: Date, expiresAt: Date? = nil
  ) {
    (self.key, self.value, self.table) = (key, value, "")
    (self.createdAt, self.updatedAt, self.expiresAt) = (createdAt, updatedAt, expiresAt)
  }

  init(_ record: ItemRecord, _ key: String, _ state: TableState) {
    (self.key, value, table) = (key, record.value, state.name)
    (createdAt, updatedAt) = (record.head.createdAt, record.head.updatedAt)
    expiresAt = record.head.expiresAt
  }

  /// Reads and verifies an item.
  ///
  /// - Throws: `StoreError` with `damaged` or `newerVersion`.
  init(_ bytes: RawSpan, of key: RawSpan, _ name: String, _ state: TableState) throws(StoreError) {
    self.init(try ItemFormat.record(bytes, of: key, name, state), name, state)
  }

  /// Returns the value decoded as a type.
  ///
  /// Complexity: Linear in the size of the value.
  ///
  /// - Throws: `StoreError` with `typeMismatch` if the value has another type. Its cause is the
  ///   error of the type's own decoding.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(StoreError)
    -> Value
  {
    do {
      return try value.decoded(as: type)
    } catch {
      throw error.naming(table: table.isEmpty ? nil : table, key: key)
    }
  }

  /// Returns whether key, value and times are equal.
  ///
  /// Complexity: Linear in the size of the key and the value.
  public static func == (left: KeyValueItem, right: KeyValueItem) -> Bool {
    left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
      && left.createdAt == right.createdAt && left.updatedAt == right.updatedAt
      && left.expiresAt == right.expiresAt
  }

  /// Hashes the value and the times.
  ///
  /// Complexity: Linear in the size of the value.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(value)
    hasher.combine(updatedAt)
  }
}

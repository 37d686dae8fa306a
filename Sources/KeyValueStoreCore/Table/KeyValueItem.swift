public import FoundationEssentials
public import StoreEngine

/// A key with its value, and when it was put.
public struct KeyValueItem: Sendable, Hashable {
  /// The key.
  public let key: String
  /// The value, whatever it is; ``decoded(as:)`` makes a type of it.
  public let value: StoredValue
  /// When the key was put first, or first again after it was deleted or had expired.
  public let createdAt: Date
  /// When the key was put last.
  public let updatedAt: Date
  /// When the item will be gone; nil when it stays.
  public let expiresAt: Date?
  /// The name of the table that it was read from; "" for one that was made by hand.
  private let table: String

  /// Makes an item, to be put as it is, see ``KeyValueBatch/put(_:in:)``.
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

  /// Reads an item, and verifies it.
  ///
  /// - Throws: `StoreError` with `damaged` or `newerVersion`.
  init(_ bytes: RawSpan, of key: RawSpan, _ name: String, _ state: TableState) throws(StoreError) {
    self.init(try ItemFormat.record(bytes, of: key, name, state), name, state)
  }

  /// The value as some type.
  ///
  /// - Throws: `StoreError` with `typeMismatch` when it is another; what the type's own coding
  ///   throws is its cause.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(StoreError)
    -> Value
  {
    do {
      return try value.decoded(as: type)
    } catch {
      throw error.naming(table: table.isEmpty ? nil : table, key: key)
    }
  }

  /// Compares key, value and times.
  public static func == (left: KeyValueItem, right: KeyValueItem) -> Bool {
    left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
      && left.createdAt == right.createdAt && left.updatedAt == right.updatedAt
      && left.expiresAt == right.expiresAt
  }

  /// Hashes the value and the times.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(value)
    hasher.combine(updatedAt)
  }
}

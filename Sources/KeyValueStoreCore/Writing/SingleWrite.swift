import StoreEngine

/// A put or a delete of one key.
struct SingleWrite: Sendable {
  enum Change: Sendable {
    case put(StoredValue, expiresAfter: Duration?)
    case delete
  }

  let table: KeyValueTable
  let key: String
  let change: Change

  /// Performs the write in a batch.
  ///
  /// - Returns: For a delete, whether the key existed.
  func apply(to batch: inout KeyValueBatch) throws(StoreError) -> Bool {
    switch change {
    case .put(let value, let expiresAfter):
      try batch.putStored(value, for: key, in: table, expiresAfter: expiresAfter)
      return true
    case .delete: return try batch.delete(key, from: table)
    }
  }

  /// A key in its table.
  struct TableKey: Hashable {
    private let table: ObjectIdentifier
    private let key: ExactName

    init(_ write: SingleWrite) {
      (table, key) = (ObjectIdentifier(write.table.state), ExactName(write.key))
    }
  }
}

import Locks
import StoreEngine

/// The data that a snapshot reads: a transaction, and what was read when it began.
final class HeldSnapshot: Sendable {
  /// The transaction; nil after the snapshot was closed.
  private let transaction: Locked<OpenTransaction?>
  /// The last commit that the transaction sees; nil if there is none.
  let last: Commit?
  /// A claim on the external values that the snapshot refers to.
  let values: ExternalValuesInUse?
  /// The numbers of tables, which are those of the backend.
  let numbers: TableNumbers
  /// The order of keys that the backend knew.
  let sortedKeys: SortedKeys
  /// The rows that every store reads first.
  let head: Head

  /// The backend, which gets to know the order of the keys that a snapshot has loaded.
  private let source: WeakBackend

  /// The rows that every store reads when its classes are registered.
  struct Head: Sendable {
    /// The metadata rows of the tables, by the names of the tables.
    var metadata: [String: [UInt8]] = [:]
    /// The named buffers of the library itself; nil for one that does not exist.
    var buffers: [String: [UInt8]?] = [:]
  }

  init(
    _ backend: PostgreSQLBackend, _ transaction: OpenTransaction, _ last: Commit?,
    _ values: ExternalValuesInUse?, _ head: Head
  ) {
    self.transaction = Locked(transaction)
    (source, self.last, self.values, self.head) = (WeakBackend(backend), last, values, head)
    numbers = backend.numbers.withLock(\.self)
    let number = last?.number ?? 0
    let known = backend.sortedKeys.withLock(\.self)
    sortedKeys = known.number == number ? known : SortedKeys(upTo: number)
  }

  /// Creates another snapshot of the same transaction.
  init(sharing other: HeldSnapshot, at location: String) throws(StoreError) {
    transaction = Locked(try other.transaction(at: location))
    (source, last, values, head) = (other.source, other.last, other.values, other.head)
    (numbers, sortedKeys) = (other.numbers, other.sortedKeys)
  }

  /// Returns the transaction.
  ///
  /// - Throws: `StoreError` with `closed` or `forked`.
  func transaction(at location: String) throws(StoreError) -> OpenTransaction {
    guard let transaction = transaction.withLock(\.self) else {
      throw StoreError(.closed, "The snapshot has been closed.", at: .init(path: location))
    }
    try transaction.checkProcess()
    return transaction
  }

  /// Passes the order of the keys of a table on to the backend.
  func didLoad(_ keys: [[UInt8]], of table: OrderedTableName) {
    guard let backend = try? source.get() else { return }
    let number = last?.number ?? 0
    backend.sortedKeys.withLock { $0.set(keys, of: backend.known(table), asOf: number) }
  }

  /// Releases the transaction.
  func release() { transaction.withLock { $0 = nil } }
}

extension ProcessOrder {
  /// The order of a snapshot: the data is on a server, and nobody commits.
  static var ofSnapshot: ProcessOrder {
    ProcessOrder(
      ofServer: true, lastNumber: { 0 }, takeRows: { _, _ in nil }, observe: { _ in })
  }
}

import StoreEngine
import Synchronization

/// The state of a table, existing or dropped, which all its handles share.
final class TableState: Sendable {
  let name: String
  /// The number in the names of the ordered tables, which is reused after the table is dropped.
  let number: UInt32
  let items: OrderedTableID
  let expiry: OrderedTableID
  private let dropped = Atomic(false)
  private let lossCount = Atomic(0)
  /// The value of ``StoreCoordinator/orderedTableNews`` as of which no item expires.
  private let expiresNothing = Atomic(UInt64.max)
  /// Returns whether the table is in the list of tables; nil if no other process can drop it.
  private let isListed: (@Sendable (TableState) -> Bool)?

  init(
    name: String, number: UInt32, backend: any StoreBackend,
    isListed: (@Sendable (TableState) -> Bool)? = nil
  ) throws(StoreError) {
    (self.name, self.number, self.isListed) = (name, number, isListed)
    items = try backend.orderedTable(Catalogue.items(number))
    expiry = try backend.orderedTable(Catalogue.expiry(number))
  }

  /// Whether the table is dropped, which is final.
  var isDropped: Bool { dropped.load(ordering: .acquiring) }

  /// The number of missed commits when the table was last looked up in the list.
  var checkedLossCount: Int {
    get { lossCount.load(ordering: .acquiring) }
    set { lossCount.store(newValue, ordering: .releasing) }
  }

  /// Whether no item was to expire, as of a value of ``StoreCoordinator/orderedTableNews``.
  func expiresNothing(asOf news: UInt64) -> Bool { expiresNothing.load(ordering: .relaxed) == news }

  func noteNoExpiry(asOf news: UInt64) { expiresNothing.store(news, ordering: .relaxed) }

  func drop() { dropped.store(true, ordering: .releasing) }

  /// Throws if the table is dropped.
  func check() throws(StoreError) {
    if let isListed, !isListed(self) { drop() }
    if isDropped {
      throw StoreError(
        .noSuchTable, "The table has been dropped. Create it, and use the new one.", table: name)
    }
  }
}

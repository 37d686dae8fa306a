import StoreEngine
import Synchronization

/// A table that there is, or was: all handles on it share one.
final class TableState: Sendable {
  let name: String
  /// The number in the names of its ordered tables; another table may get it once this is dropped.
  let number: UInt32
  let items: OrderedTableID
  let expiry: OrderedTableID
  private let dropped = Atomic(false)
  private let lossCount = Atomic(0)
  /// Looks into the list of tables, where other processes may have dropped it; nil where there are
  /// none.
  private let isListed: (@Sendable (TableState) -> Bool)?

  init(
    name: String, number: UInt32, backend: any StoreBackend,
    isListed: (@Sendable (TableState) -> Bool)? = nil
  ) throws(StoreError) {
    (self.name, self.number, self.isListed) = (name, number, isListed)
    items = try backend.orderedTable(Catalogue.items(number))
    expiry = try backend.orderedTable(Catalogue.expiry(number))
  }

  /// Whether it is gone, for good.
  var isDropped: Bool { dropped.load(ordering: .acquiring) }

  /// How often news were lost when the table was last looked for in the list.
  var checkedLossCount: Int {
    get { lossCount.load(ordering: .acquiring) }
    set { lossCount.store(newValue, ordering: .releasing) }
  }

  func drop() { dropped.store(true, ordering: .releasing) }

  /// Refuses a table that is gone.
  func check() throws(StoreError) {
    if let isListed, !isListed(self) { drop() }
    if isDropped {
      throw StoreError(
        .noSuchTable, "The table has been dropped. Create it, and use the new one.", table: name)
    }
  }
}

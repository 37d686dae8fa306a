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

  init(name: String, number: UInt32, backend: any StoreBackend) throws {
    (self.name, self.number) = (name, number)
    items = try backend.orderedTable(Catalogue.items(number))
    expiry = try backend.orderedTable(Catalogue.expiry(number))
  }

  /// Whether it is gone, for good.
  var isDropped: Bool { dropped.load(ordering: .acquiring) }

  func drop() { dropped.store(true, ordering: .releasing) }

  /// Refuses a table that is gone.
  func check() throws {
    if isDropped {
      throw KeyValueError(
        .noSuchTable, "The table has been dropped. Create it, and use the new one.", table: name)
    }
  }
}

package import StoredObjectsCore

/// The storage of a store's records.
package protocol Engine: Sendable {
  /// The name on the command line.
  var name: String { get }
  /// The name in a table.
  var title: String { get }
  /// Whether another process can open a store that this one has closed.
  var outlivesProcess: Bool { get }
  /// Whether it runs only if named.
  var isChosenByNameOnly: Bool { get }
  /// Opens a backend.
  func open(
    _ directory: String, _ durability: Durability
  ) throws -> any StoreBackend
}

extension Engine {
  package var isChosenByNameOnly: Bool { false }
}

/// All engines of this package.
package let engines: [any Engine] = [
  TokyoCabinetEngine(), CDBEngine(), MemoryEngine(), UnloggedEngine.tokyoCabinet,
  UnloggedEngine.cdb,
]

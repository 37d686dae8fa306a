package import StoredObjectsCore

/// What a store keeps its records in.
package protocol Engine: Sendable {
  /// As on the command line.
  var name: String { get }
  /// As in a table.
  var title: String { get }
  /// Whether another process can open what this one closed.
  var outlivesProcess: Bool { get }
  /// Whether it is left out unless somebody asks for it.
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

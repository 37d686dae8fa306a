/// The result of a salvage: what was recovered, and what was lost.
public struct SalvageReport: Sendable {
  package init() {}

  /// The classes in the new store, in order of their names.
  public package(set) var classes: [SalvagedClass] = []
  /// The number of named buffers in the new store.
  public package(set) var namedBufferCount = 0
  /// The ordered tables of data in the new store, in order of their names.
  ///
  /// Indexes are left out, and rebuilt from the records.
  public package(set) var orderedTables: [SalvagedTable] = []
  /// Everything that is lost, doubtful or guessed; empty if the store was undamaged.
  public private(set) var losses: [StoreFinding] = []
  /// The number of losses beyond those in ``losses``.
  public private(set) var omittedCount = 0

  /// A class in the new store.
  public struct SalvagedClass: Sendable, Hashable {
    /// The stored name.
    public let name: String
    /// The number of objects, without the metadata row.
    public let objectCount: Int

    /// Creates the counts of a class.
    package init(name: String, objectCount: Int) {
      self.name = name
      self.objectCount = objectCount
    }
  }

  /// An ordered table in the new store.
  public struct SalvagedTable: Sendable, Hashable {
    /// The name.
    public let name: OrderedTableName
    /// The number of its keys.
    public let keyCount: Int

    /// Creates the counts of a table.
    package init(name: OrderedTableName, keyCount: Int) {
      self.name = name
      self.keyCount = keyCount
    }
  }

  package mutating func lose(
    _ kind: StoreFinding.Kind, _ message: String, at location: StoreError.Location
  ) { lose(StoreFinding(kind, message, at: location)) }

  mutating func renameLosses(_ body: (StoreFinding) -> StoreFinding) {
    losses = losses.map(body)
  }

  package mutating func lose(_ finding: StoreFinding) {
    if losses.count < StoreCheck.findingLimit {
      losses.append(finding)
    } else {
      omittedCount += 1
    }
  }
}

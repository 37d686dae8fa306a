/// What a salvage has brought over, and what was lost.
public struct SalvageReport: Sendable {
  package init() {}

  /// The classes in the new store, in order of their names.
  public package(set) var classes: [SalvagedClass] = []
  /// The number of named buffers in the new store.
  public package(set) var namedBufferCount = 0
  /// The ordered tables of data in the new store, in order of their names; those of indexes are
  /// left out, and made anew from the records.
  public package(set) var orderedTables: [SalvagedTable] = []
  /// What is lost, doubtful, or had to be made up; empty when everything was whole.
  public private(set) var losses: [StoreFinding] = []
  /// How many more losses there were than ``losses`` holds.
  public private(set) var omittedCount = 0

  /// A class in the new store.
  public struct SalvagedClass: Sendable, Hashable {
    /// The stored name.
    public let name: String
    /// The number of objects, without the metadata row.
    public let objectCount: Int

    /// Counts a class.
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

    /// Counts the keys of a table.
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

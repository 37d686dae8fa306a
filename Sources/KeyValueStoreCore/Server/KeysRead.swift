import StoreEngine

/// The keys of ordered tables that a write has read, whether they existed or not.
struct KeysRead: Sendable {
  private var tables: [OrderedTableID: Keys] = [:]

  private struct Keys: Sendable {
    /// Keys that were read one by one, of which there may be many.
    var single: Set<[UInt8]> = []
    var ranges: [KeyRange] = []

    func contains(_ key: [UInt8]) -> Bool {
      single.contains(key) || ranges.contains { $0.contains(key) }
    }
  }

  mutating func insert(_ range: KeyRange, of table: OrderedTableID) {
    if let key = range.onlyKey {
      tables[table, default: Keys()].single.insert(key)
    } else {
      tables[table, default: Keys()].ranges.append(range)
    }
  }

  /// Returns whether a commit changes any of the keys.
  ///
  /// Complexity: Linear in the number of changes in the tables that were read.
  func areChanged(by changes: ChangeSet) -> Bool {
    if tables.isEmpty { return false }
    return changes.ordered.contains { change in
      guard let keys = tables[change.table] else { return false }
      return change.clearsFirst
        || change.changes.contains { keys.contains(Array(changes.bytes[$0.key])) }
    }
  }

  /// Returns the basis of a commit: the keys, except those that it changes, which count anyway.
  func basis(upTo number: UInt64, of changes: ChangeSet) -> CommitBasis {
    var basis = CommitBasis(upTo: number)
    for (table, keys) in tables {
      let changed = changes.ordered.first { $0.table == table }?.changes ?? []
      let rest = keys.single.subtracting(changed.lazy.map { Array(changes.bytes[$0.key]) })
      for key in rest { basis.keys.append((table, .key(key))) }
      for range in keys.ranges { basis.keys.append((table, range)) }
    }
    return basis
  }
}

/// Which row has which values, by one constraint of one class, as it is saved.
final class UniqueIndex {
  let constraint: UniqueConstraint
  private var rows: [[AnyHashable]: UInt32] = [:]
  private var values: [UInt32: [AnyHashable]] = [:]

  init(_ constraint: UniqueConstraint) { self.constraint = constraint }

  /// The saved row that has these values.
  func row(_ values: [AnyHashable]) -> UInt32? { rows[values] }

  /// Takes down what a row has; nil for a row that is gone, or not compared.
  func set(_ row: UInt32, _ new: [AnyHashable]?) {
    if let old = values.removeValue(forKey: row), rows[old] == row { rows[old] = nil }
    guard let new else { return }
    values[row] = new
    // Of duplicates that were there before the constraint was, the first counts.
    if rows[new] == nil { rows[new] = row }
  }
}

extension RegisteredClass {
  /// What the constraints of the class need to know; all objects are read the first time.
  func readUniqueIndexes(_ store: Store) throws(StoreError) -> [UniqueIndex] {
    uniqueIndexes.dropIfStale(shared)
    if let indexes = uniqueIndexes.value { return indexes }
    let commitCount = shared.commitCount
    let indexes = uniqueConstraints.map(UniqueIndex.init)
    let pendingRows = RowSet(pending.lazy.map(\.rowID))
    var cursor = RowCursor(store, self, keepsObjects: false)
    while let object = try cursor.next() {
      // The values that are not saved are compared by themselves.
      if pendingRows.contains(object.rowID) { continue }
      for index in indexes { index.set(object.rowID, index.constraint.values(object)) }
    }
    uniqueIndexes.set(indexes, asOf: commitCount)
    return indexes
  }
}

extension RowSet {
  init(_ rows: some Sequence<UInt32>) {
    self.init()
    for row in rows { insert(row) }
  }
}

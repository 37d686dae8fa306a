// A value outside of records stays as long as the history has an entry of the commit that removed a
// reference to it: the list of values contains a key for that commit.

extension HistoryEntry {
  /// The values to which the commit has removed a reference, with their value in the list.
  fileprivate var droppedValues: [(id: ExternalID, size: [UInt8])] {
    Self.droppedValues(orderedTables.first { $0.name == ExternalCatalogue.table }?.keys ?? [])
  }

  /// Returns the values whose references were removed by changes of the list.
  static func droppedValues(_ changes: [KeyChange]) -> [(id: ExternalID, size: [UInt8])] {
    changes.compactMap { change in
      guard change.after == nil, let size = change.before,
        let id = ExternalCatalogue.value(ofKey: change.key)
      else { return nil }
      return (id, size)
    }
  }

  /// Returns the keys that keep the values for the history.
  func keysOfDroppedValues() -> [(key: [UInt8], size: [UInt8])] {
    droppedValues.map { (ExternalCatalogue.historyKey($0.id, commit.number), $0.size) }
  }
}

extension StoreBackend {
  /// Adds changes that end the history's hold on the values of an entry.
  ///
  /// - Returns: The values.
  func release(
    _ entry: HistoryEntry, in changes: inout ChangeSet
  ) throws(StoreError) -> [ExternalID] {
    let values = entry.droppedValues
    if values.isEmpty { return [] }
    let list = try orderedTable(ExternalCatalogue.table)
    for value in values {
      changes.set(
        ExternalCatalogue.historyKey(value.id, entry.commit.number), to: nil, in: list)
    }
    return values.map(\.id)
  }

  /// Adds changes that end the history's hold on all values.
  ///
  /// - Returns: The values.
  func releaseAllValues(in changes: inout ChangeSet) throws(StoreError) -> [ExternalID] {
    guard let catalogue = try ExternalCatalogue.ifUsed(in: self) else { return [] }
    let list = try orderedTable(ExternalCatalogue.table)
    var values: [ExternalID] = []
    try catalogue.forEach { (reference, owner) throws(StoreError) in
      guard owner.isHistory else { return }
      values.append(reference.id)
      changes.set(
        ExternalCatalogue.historyKey(reference.id, UInt64(owner.rowID)), to: nil, in: list)
    }
    return values
  }

  /// Removes values that the history no longer holds, unless rows refer to them.
  func removeReleased(_ values: [ExternalID]) {
    guard !values.isEmpty, let known = coordinator.externalValues(of: self) else { return }
    known.didDrop(values)
    known.collect(self)
  }
}

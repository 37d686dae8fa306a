import StoreEngine

/// A recorder of the references that are read from a record, for a check.
final class ReferenceRecorder {
  /// A reference, and its position in its record.
  struct Reference {
    let classID: UInt8
    let rowID: UInt32
    let offset: Int
  }

  private(set) var references: [Reference] = []

  /// Records a reference.
  func note(_ classID: UInt8, _ rowID: UInt32, at offset: Int) {
    references.append(Reference(classID: classID, rowID: rowID, offset: offset))
  }

  /// The values outside of records that a record refers to.
  private(set) var values: Set<ExternalID> = []

  /// Records a reference to a value outside of records.
  func note(_ value: ExternalReference) { values.insert(value.id) }

  /// Removes all references, for the next record.
  func removeAll() {
    references.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
  }
}

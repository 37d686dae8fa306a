internal import Files

/// A search for the records of one key, in the order in which they were added.
struct CDBSearch {
  // Without references, whose counting would take half of a look-up.
  private let area: CDBRecordArea
  let hash: UInt64
  private let start: Int
  private let slots: Int
  private var slot: Int
  /// The number of slots that have not been visited.
  private var left: Int
  /// The value of `left` from which a ``CDBCrowd`` is faster; -1 in a small table.
  private let crowdedFrom: Int
  /// The number of records found.
  var count = 0
  /// The position at which the search continues in a ``CDBCrowd``; nil before it has used one.
  var crowdSlot: Int?

  /// The number of the table that is searched.
  var table: Int { Int(truncatingIfNeeded: hash & 255) }
  /// Whether the search has visited so many slots that it needs the index.
  var isCrowded: Bool { left == crowdedFrom }

  @inline(__always)
  init(_ layout: CDBLayout, for key: RawSpan) {
    area = layout.area
    hash = CDBHash.hash(key, area.format)
    let table = layout.tables[Int(truncatingIfNeeded: hash & 255)]
    (start, slots, left) = (table.start, table.slots, table.slots)
    slot = left == 0 ? 0 : CDBIndex.firstSlot(hash, left)
    crowdedFrom = left > CDBCrowd.patience ? left - CDBCrowd.patience : -1
  }

  /// Returns the next record of the key; nil if there is none, or if ``isCrowded``.
  @inline(__always)
  mutating func next(
    _ bytes: RawSpan, _ key: RawSpan
  ) throws(CDBRecordArea.Fault) -> CDBRecordArea.Record? {
    while left > 0 {
      if isCrowded { return nil }
      let offset = start + slot * area.format.pairSize
      let (hash, position) = CDBLayout.pair(bytes, at: offset, area.format)
      if position == 0 { break }
      left -= 1
      slot += 1
      if slot == slots { slot = 0 }
      if hash != self.hash { continue }
      let record = try area.record(bytes, at: position, from: offset)
      if bytes.extracting(record.key).hasSameBytes(as: key) {
        count += 1
        return record
      }
    }
    left = 0
    return nil
  }
}

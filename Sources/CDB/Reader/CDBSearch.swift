internal import Files

/// A search for the records of one key, in the order in which they were added.
struct CDBSearch {
  // Without references: counting them would be half of a look-up.
  private let area: CDBRecordArea
  let hash: UInt64
  private let start: Int
  private let slots: Int
  private var slot: Int
  /// How many slots have not been looked at.
  private var left: Int
  /// How many are left when so many have been looked at that a ``CDBCrowd`` is quicker; -1 in a
  /// table with no more than these.
  private let crowdedFrom: Int
  /// The number of records found.
  var count = 0
  /// Where the search goes on in a ``CDBCrowd``; nil before it has asked one.
  var crowdSlot: Int?

  /// The table that is searched.
  var table: Int { Int(truncatingIfNeeded: hash & 255) }
  /// Whether more slots have been passed than the search has patience for.
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

  /// The next record of the key; nil when there is none, or when ``isCrowded``.
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

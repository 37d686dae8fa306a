internal import Files

extension CDBReader {
  /// Verifies that each record is found by its key, and that each used slot leads to a record.
  ///
  /// The format has no checksums, so a changed byte of a value is not detected.
  ///
  /// Complexity: linear in the file.
  ///
  /// - Throws: ``CDBError`` with `damaged`, for the first problem.
  public func verify() throws {
    let records = try file.withBytes { try checkRecords($0) }
    let slots = try file.withBytes { try usedSlots($0) }
    try file.withBytes { try checkEmptyTables($0) }
    guard records == slots, slots <= layout.slotCount else {
      throw CDBError.damaged(
        path, at: layout.dataEnd, "There are \(records) records, and \(slots) slots that are used.")
    }
    guard layout.slotCount == 2 * records else {
      throw CDBError.damaged(
        path, at: 0,
        "There are \(layout.slotCount) slots for \(records) records, and not twice as many.")
    }
  }

  private func checkRecords(_ bytes: RawSpan) throws -> Int {
    var (position, count) = (format.headerSize, 0)
    while position < layout.dataEnd {
      let record = try record(bytes, at: position)
      guard try isIndexed(record, bytes) else {
        throw CDBError.damaged(path, at: position, "No slot leads to this record.")
      }
      position = record.value.upperBound
      count += 1
    }
    return count
  }

  private func isIndexed(_ record: CDBRecordArea.Record, _ bytes: RawSpan) throws -> Bool {
    let key = bytes.extracting(record.key)
    var search = CDBSearch(layout, for: key)
    while !search.isCrowded, let found = try next(&search, bytes, key) {
      if found.position == record.position { return true }
    }
    guard search.isCrowded else { return false }
    return crowd(search.table, bytes).contains(UInt64(record.position))
  }

  private func usedSlots(_ bytes: RawSpan) throws -> Int {
    var count = 0
    for table in layout.tables {
      for slot in 0..<table.slots {
        let offset = table.start + slot * format.pairSize
        let (hash, position) = CDBLayout.pair(bytes, at: offset, format)
        if position != 0 { count += 1 }
        guard position != 0 || hash == 0 else {
          throw CDBError.damaged(path, at: offset, "A slot that is not used has a hash.")
        }
      }
    }
    return count
  }

  /// Checks that a table without slots begins where the previous one ends, or at 0.
  ///
  /// Some writers use 0.
  private func checkEmptyTables(_ bytes: RawSpan) throws {
    var end = UInt64(layout.dataEnd)
    for table in 0..<CDBFormat.tableCount {
      let offset = table * format.pairSize
      let (start, slots) = CDBLayout.pair(bytes, at: offset, format)
      guard slots > 0 || start == end || start == 0 else {
        throw CDBError.damaged(path, at: offset, "A table without slots is named at \(start).")
      }
      if slots > 0 { end = start + slots * UInt64(format.pairSize) }
    }
  }
}

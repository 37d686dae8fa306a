internal import Files

extension CDBReader {
  /// Reads the whole file: every record must be found by its key, and every slot lead to a record.
  ///
  /// The format has no checksums, so that a changed byte of a value goes unseen.
  ///
  /// Complexity: linear in the file.
  ///
  /// - Throws: ``CDBError`` with `damaged`, for the first place that makes no sense.
  public func verify() throws {
    let records = try file.withBytes { try checkRecords($0) }
    let slots = try file.withBytes { try usedSlots($0) }
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
    while let found = try next(&search, bytes, key) {
      if found.position == record.position { return true }
    }
    return false
  }

  private func usedSlots(_ bytes: RawSpan) throws -> Int {
    var count = 0
    for table in layout.tables {
      for slot in 0..<table.slots {
        let offset = table.start + slot * format.pairSize
        if CDBLayout.pair(bytes, at: offset, format).1 != 0 { count += 1 }
      }
    }
    return count
  }
}

// A change set as the commit log keeps it: an index, and behind it the bytes of the change set as
// they are in memory. Tables go by their names, because numbers last only as long as a backend.
//
//     tables:  count (4), then for each: name (count + UTF-8), count of records (4), and for each
//              record: kind (1), row ID (4), offset (8), length (4)
//     names:   count (4), then for each: name (count + UTF-8), 1 if set or 0 if removed, offset (8),
//              length (4)
//     bytes:   length (8), then the bytes

extension ChangeSet {
  /// The index of the change set, which goes in front of ``bytes``.
  func encodedIndex(tableName: (TableID) throws -> String) rethrows -> [UInt8] {
    var buffer = DataBuffer()
    let tables = tables.filter { !$0.records.isEmpty }
    buffer.writeCount(tables.count)
    for table in tables {
      buffer.write(try tableName(table.table))
      buffer.writeCount(table.records.count)
      for record in table.records {
        buffer.write(record.kind.rawValue)
        buffer.write(record.rowID)
        buffer.write(record.range)
      }
    }
    buffer.writeCount(names.count)
    for name in names {
      buffer.write(name.name)
      buffer.write(name.range != nil)
      buffer.write(name.range ?? 0..<0)
    }
    buffer.write(UInt64(bytes.count))
    return buffer.bytes
  }

  /// Reads what ``encodedIndex(tableName:)`` and ``bytes`` make one behind the other.
  ///
  /// - Throws: ``DataBufferError``; what `table` throws.
  init(encoded payload: [UInt8], table: (String) throws -> TableID) throws {
    var buffer = DataBuffer(payload)
    var tables: [TableChanges] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
      let id = try table(try buffer.readString())
      var records: [RecordChange] = []
      let count = try buffer.readCount(minimumElementSize: 17)
      records.reserveCapacity(count)
      for _ in 0..<count { records.append(try RecordChange(from: &buffer)) }
      tables.append(TableChanges(table: id, records: records))
    }
    var names: [NameChange] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 17)) {
      let (name, isSet) = (try buffer.readString(), try buffer.readBool())
      let range = try buffer.readRange()
      names.append(NameChange(name: name, range: isSet ? range : nil))
    }
    let count = try buffer.readUInt64()
    guard count == UInt64(buffer.remainingCount) else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "\(count) bytes should be left")
    }
    self.init(bytes: Array(payload[buffer.offset...]), tables: tables, names: names)
    try checkRanges()
  }

  private func checkRanges() throws(DataBufferError) {
    let last = max(
      tables.lazy.flatMap(\.records).map(\.range.upperBound).max() ?? 0,
      names.lazy.compactMap(\.range?.upperBound).max() ?? 0)
    guard last <= bytes.count else {
      throw DataBufferError(.endOfBuffer, at: last, "a record ends behind the last byte")
    }
  }
}

extension ChangeSet.RecordChange {
  fileprivate init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    guard let kind = ChangeSet.Kind(rawValue: try buffer.readUInt8()) else {
      throw DataBufferError(.invalidValue, at: offset, "no such kind of change")
    }
    self.init(kind: kind, rowID: try buffer.readUInt32(), range: try buffer.readRange())
  }
}

extension DataBuffer {
  fileprivate mutating func write(_ range: Range<Int>) {
    write(UInt64(range.lowerBound))
    writeCount(range.count)
  }

  fileprivate mutating func readRange() throws(DataBufferError) -> Range<Int> {
    let before = offset
    let (start, count) = (try readUInt64(), try readUInt32())
    guard let start = Int(exactly: start), start < 1 << 62 else {
      throw DataBufferError(.invalidValue, at: before, "no offset")
    }
    return start..<start + Int(count)
  }
}

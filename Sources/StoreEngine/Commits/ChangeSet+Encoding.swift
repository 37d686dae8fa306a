// A change set in the commit log: an index, followed by the bytes of the change set as they are in
// memory. Tables are identified by name, because numbers are valid only as long as a backend.
//
//     commit:  see Commit+Encoding.swift; not in batches from before there were any
//     tables:  count (4), then for each: name (count + UTF-8), count of records (4), and for each
//              record: kind (1), row ID (4), offset (8), length (4)
//     names:   count (4), then for each: name (count + UTF-8), 1 if set or 0 if removed,
//              offset (8), length (4)
//     ordered: not in a batch of kind 1: count (4), then for each: name of the file
//              (count + UTF-8), 1 if it is cleared first (1), count of keys (4), and for each key:
//              offset (8), length of the key (4), length of the value that follows it (4), or
//              FFFFFFFF for a key that is removed
//     bytes:   length (8), then the bytes

import Files

extension ChangeSet {
  /// Returns the index of the change set, which precedes ``bytes``.
  ///
  /// The bytes of an entry, if there is one, follow those of the change set.
  func encodedIndex<Failure: Error>(
    _ commit: Commit, and entry: CommitEntry? = nil, tableName: (TableID) throws(Failure) -> String,
    orderedName: (OrderedTableID) throws(Failure) -> OrderedTableName
  ) throws(Failure) -> [UInt8] {
    var buffer = DataBuffer()
    // Enough for a save of a few keys or records, which then allocates once.
    buffer.reserveCapacity(256)
    commit.encode(to: &buffer)
    buffer.writeCount(tables.count { !$0.records.isEmpty })
    for table in tables where !table.records.isEmpty {
      buffer.write(try tableName(table.table))
      buffer.writeCount(table.records.count)
      for record in table.records { buffer.append(record.integers) }
    }
    buffer.writeCount(names.count)
    for name in names {
      buffer.write(name.name)
      buffer.write(name.range != nil)
      buffer.write(name.range ?? 0..<0)
    }
    try encodeOrdered(to: &buffer, and: entry, orderedName)
    buffer.write(UInt64(bytes.count + (entry?.bytes.count ?? 0)))
    return buffer.bytes
  }

  private func encodeOrdered<Failure: Error>(
    to buffer: inout DataBuffer, and entry: CommitEntry?,
    _ name: (OrderedTableID) throws(Failure) -> OrderedTableName
  ) throws(Failure) {
    buffer.writeCount(ordered.count { !$0.isEmpty } + (entry == nil ? 0 : 1))
    if let entry {
      assert(!ordered.contains { $0.table == entry.table }, "a table occurs twice")
      entry.head.lend { buffer.storage.append(copying: $0) }
      var integers = IntegerBytes()
      integers.add(UInt64(bytes.count))
      integers.add(UInt32(HistoryFormat.keyCount))
      integers.add(UInt32(entry.bytes.count - HistoryFormat.keyCount))
      buffer.append(integers)
    }
    for table in ordered where !table.isEmpty {
      buffer.write(try name(table.table).fileName)
      buffer.write(table.clearsFirst)
      buffer.writeCount(table.changes.count)
      buffer.write(table.changes)
    }
  }

  /// Returns the beginning of the changes of an ordered table of which one key is set.
  static func headOfOneKey(in table: OrderedTableName) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.write(table.fileName)
    buffer.write(false)
    buffer.writeCount(1)
    return buffer.bytes
  }

  /// Decodes an index of ``encodedIndex(_:tableName:orderedName:)`` that is followed by ``bytes``.
  ///
  /// - Throws: ``StoreError`` with `damaged`, or an error of `table` or `orderedTable`.
  init(
    encoded payload: [UInt8], kind: CommitLogFormat.Kind,
    table: (String) throws(StoreError) -> TableID,
    orderedTable: (OrderedTableName) throws(StoreError) -> OrderedTableID
  ) throws(StoreError) {
    var known = NamedTables()
    self = try Self.decode(payload, kind, table: table, orderedTable: orderedTable, &known).changes
  }

  /// Decodes the same, and the commit before it; nil in a log from before commits had numbers.
  ///
  /// - Parameters:
  ///   - payload: The payload of a batch.
  ///   - kind: The kind of the batch.
  ///   - table: Returns the table of a name.
  ///   - orderedTable: Returns the ordered table of a name.
  ///   - known: The tables of earlier calls with the same closures.
  /// - Returns: The commit and the change set.
  /// - Throws: ``StoreError`` with `damaged`, or an error of `table` or `orderedTable`.
  static func decode(
    _ payload: [UInt8], _ kind: CommitLogFormat.Kind,
    table: (String) throws(StoreError) -> TableID,
    orderedTable: (OrderedTableName) throws(StoreError) -> OrderedTableID,
    _ known: inout NamedTables
  ) throws(StoreError) -> (commit: Commit?, changes: ChangeSet) {
    var buffer = DataBuffer(payload)
    do {
      let commit = kind == .commit ? try Commit(from: &buffer) : nil
      return (commit, try ChangeSet(from: &buffer, kind, table, orderedTable, &known))
    } catch { throw .inSave(error) }
  }

  private init(
    from buffer: inout DataBuffer, _ kind: CommitLogFormat.Kind,
    _ table: (String) throws(StoreError) -> TableID,
    _ orderedTable: (OrderedTableName) throws(StoreError) -> OrderedTableID,
    _ known: inout NamedTables
  ) throws {
    var tables: [TableChanges] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
      let id = try known.tables.read(from: &buffer, table)
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
    let ordered =
      kind == .changes ? [] : try Self.readOrdered(from: &buffer, orderedTable, &known)
    let count = try buffer.readUInt64()
    guard count == UInt64(buffer.remainingCount) else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "\(count) bytes were expected here")
    }
    self.init(
      bytes: Array(buffer.rest), tables: tables, names: names, ordered: ordered)
    try checkRanges()
  }

  private static func readOrdered(
    from buffer: inout DataBuffer, _ table: (OrderedTableName) throws(StoreError) -> OrderedTableID,
    _ known: inout NamedTables
  ) throws -> [OrderedTableChanges] {
    var tables: [OrderedTableChanges] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 9)) {
      let offset = buffer.offset
      let id = try known.orderedTables.read(from: &buffer) { fileName in
        guard let name = OrderedTableName(fileName: fileName) else {
          throw DataBufferError(.invalidValue, at: offset, "not the file name of an ordered table")
        }
        return try table(name)
      }
      var changes = OrderedTableChanges(table: id, clearsFirst: try buffer.readBool())
      let count = try buffer.readCount(minimumElementSize: 16)
      changes.changes.reserveCapacity(count)
      for _ in 0..<count { changes.changes.append(try KeyChange(from: &buffer)) }
      tables.append(changes)
    }
    return tables
  }

  private func checkRanges() throws(DataBufferError) {
    let last = max(
      ordered.lazy.flatMap(\.changes).map(\.value.upperBound).max() ?? 0,
      tables.lazy.flatMap(\.records).map(\.range.upperBound).max() ?? 0,
      names.lazy.compactMap(\.range?.upperBound).max() ?? 0)
    guard last <= bytes.count else {
      throw DataBufferError(.endOfBuffer, at: last, "a record ends after the last byte")
    }
  }
}

/// The tables that change sets have named, so that their names need not be verified again.
struct NamedTables {
  fileprivate var tables = KnownNames<TableID>()
  fileprivate var orderedTables = KnownNames<OrderedTableID>()
}

/// The first names that were read, and their tables.
private struct KnownNames<ID> {
  private var known: [(name: [UInt8], id: ID)] = []
  /// The maximum number of names: to compare more takes longer than to verify one.
  private static var maximumCount: Int { 8 }

  /// Reads a name, and returns its table; an unknown name is looked up with a closure.
  mutating func read(
    from buffer: inout DataBuffer, _ find: (String) throws -> ID
  ) throws -> ID {
    for one in known where buffer.skip(ifNext: one.name) { return one.id }
    let start = buffer.position
    let id = try find(try buffer.readString())
    if known.count < Self.maximumCount {
      known.append((Array(buffer.storage[start..<buffer.position]), id))
    }
    return id
  }
}

extension ChangeSet.RecordChange {
  fileprivate var integers: IntegerBytes {
    var integers = IntegerBytes()
    integers.add(kind.rawValue)
    integers.add(rowID)
    integers.add(UInt64(range.lowerBound))
    integers.add(count)
    return integers
  }

  fileprivate init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    guard let kind = ChangeSet.Kind(rawValue: try buffer.readUInt8()) else {
      throw DataBufferError(.invalidValue, at: offset, "not a kind of change")
    }
    self.init(kind: kind, rowID: try buffer.readUInt32(), range: try buffer.readRange())
  }
}

extension ChangeSet.KeyChange {
  fileprivate init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    let (start, keyCount) = (try buffer.readUInt64(), try buffer.readUInt32())
    let valueCount = try buffer.readUInt32()
    guard start < 1 << 62, keyCount <= Int32.max,
      valueCount <= Int32.max || valueCount == Self.removal
    else { throw DataBufferError(.invalidValue, at: offset, "not a change of a key") }
    if valueCount == Self.removal {
      self.init(removing: Int(start), keyCount: Int(keyCount))
    } else {
      self.init(putting: Int(start), keyCount: Int(keyCount), valueCount: Int(valueCount))
    }
  }
}

extension DataBuffer {
  fileprivate mutating func write(_ changes: [ChangeSet.KeyChange]) {
    if changes.count > 1 { reserveCapacity(byteCount + 16 * changes.count) }
    for change in changes {
      storage.append(littleEndian: UInt64(change.start))
      storage.append(littleEndian: UInt64(change.valueCount) << 32 | UInt64(change.keyCount))
    }
  }

  fileprivate mutating func write(_ range: Range<Int>) {
    write(UInt64(range.lowerBound))
    writeCount(range.count)
  }

  /// Skips the next bytes if they are the given ones.
  fileprivate mutating func skip(ifNext bytes: [UInt8]) -> Bool {
    guard bytes.count <= remainingCount else { return false }
    let isNext = storage.lend(position..<position + bytes.count) { next in
      bytes.lend { next.hasSameBytes(as: $0) }
    }
    if isNext { position += bytes.count }
    return isNext
  }

  fileprivate mutating func readRange() throws(DataBufferError) -> Range<Int> {
    let before = offset
    let (start, count) = (try readUInt64(), try readUInt32())
    guard let start = Int(exactly: start), start < 1 << 62 else {
      throw DataBufferError(.invalidValue, at: before, "not an offset")
    }
    return start..<start + Int(count)
  }
}

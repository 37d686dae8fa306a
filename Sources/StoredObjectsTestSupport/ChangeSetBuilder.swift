import Files
public import StoredObjectsCore

/// A builder of change sets that no store would write, such as with damaged records or odd rows.
///
///     try backend.commit { changes in
///       changes.insert(2, in: songs, [0, 1, 2])
///       changes.set("Favorite", [2, 0, 0, 0])
///     }
public struct ChangeSetBuilder {
  /// The change set so far.
  public private(set) var changeSet = ChangeSet()

  /// Creates a builder without changes.
  public init() {}

  /// Adds a row that must be new.
  ///
  /// Complexity: linear in the size of the record, and in the number of tables of the change set.
  public mutating func insert(_ rowID: UInt32, in table: TableID, _ record: [UInt8]) {
    change(.insert, rowID, table, record)
  }

  /// Writes a row, new or not.
  ///
  /// Complexity: linear in the size of the record, and in the number of tables of the change set.
  public mutating func update(_ rowID: UInt32, in table: TableID, _ record: [UInt8]) {
    change(.update, rowID, table, record)
  }

  /// Removes a row, if it exists.
  ///
  /// Complexity: linear in the number of tables of the change set.
  public mutating func delete(_ rowID: UInt32, in table: TableID) {
    change(.delete, rowID, table, [])
  }

  /// Names a table without changing it.
  ///
  /// Complexity: linear in the number of tables of the change set.
  public mutating func touchNothing(in table: TableID) { _ = index(of: table) }

  /// Sets or removes a named buffer.
  ///
  /// Complexity: linear in the size of the buffer.
  public mutating func set(_ name: String, _ buffer: [UInt8]?) {
    let range = buffer.map { append($0) }
    changeSet.names.append(.init(name: name, range: range))
  }

  /// Puts or removes a key of an ordered table.
  ///
  /// Complexity: linear in the size of the key and the value, and in the number of tables of the
  /// change set.
  public mutating func set(_ key: [UInt8], to value: [UInt8]?, in table: OrderedTableID) {
    changeSet.set(key, to: value, in: table)
  }

  /// Removes all keys of an ordered table, before its other changes.
  ///
  /// Complexity: linear in the number of tables of the change set.
  public mutating func clear(_ table: OrderedTableID) { changeSet.clear(table) }

  private mutating func change(
    _ kind: ChangeSet.Kind, _ rowID: UInt32, _ table: TableID, _ record: [UInt8]
  ) {
    let range = kind == .delete ? 0..<0 : append(record)
    let index = index(of: table)
    changeSet.tables[index].records.append(.init(kind: kind, rowID: rowID, range: range))
  }

  private mutating func index(of table: TableID) -> Int {
    if let known = changeSet.tables.lastIndex(where: { $0.table == table }) { return known }
    changeSet.tables.append(.init(table: table, records: []))
    return changeSet.tables.count - 1
  }

  private mutating func append(_ bytes: [UInt8]) -> Range<Int> {
    let start = changeSet.bytes.count
    changeSet.bytes.append(contentsOf: bytes)
    return start..<changeSet.bytes.count
  }
}

extension StoreBackend {
  /// Commits a change set that a closure builds.
  ///
  /// Complexity: that of the closure and of `commit(_:)`.
  ///
  /// - Throws: The errors of the closure and of `commit(_:)`.
  public func commit(_ build: (inout ChangeSetBuilder) throws -> Void) throws {
    var builder = ChangeSetBuilder()
    try build(&builder)
    try commit(builder.changeSet)
  }

  /// Returns a copy of the record of a row, or nil.
  ///
  /// Complexity: as `withRecord(_:in:_:)`, and linear in the size of the record.
  ///
  /// - Throws: The errors of `withRecord(_:in:_:)`.
  public func record(_ rowID: UInt32, in table: TableID) throws -> [UInt8]? {
    try withRecord(rowID, in: table) { copy($0) }
  }

  /// Returns a copy of a named buffer, or nil.
  ///
  /// Complexity: as `withNamedBuffer(_:_:)`, and linear in the size of the buffer.
  ///
  /// - Throws: The errors of `withNamedBuffer(_:_:)`.
  public func namedBuffer(_ name: String) throws -> [UInt8]? {
    try withNamedBuffer(name) { copy($0) }
  }

  /// Returns copies of all records of a table, read in one scan.
  ///
  /// Complexity: linear in the size of all records of the table.
  ///
  /// - Throws: The errors of `scan(_:from:_:)`, and ``ConformanceFailure`` if a row comes twice.
  public func records(in table: TableID) throws -> [UInt32: [UInt8]] {
    var records: [UInt32: [UInt8]] = [:]
    var repeated: UInt32?
    let end = try scan(table, from: nil) { rowID, record in
      if records.updateValue(copy(record), forKey: rowID) != nil { repeated = rowID }
      return .next
    }
    if let repeated { throw ConformanceFailure("row \(repeated) comes twice in one scan") }
    guard case .finished = end else { throw ConformanceFailure("\(end) instead of finished") }
    return records
  }

  /// Returns copies of the keys in a range and their values, read in one scan.
  ///
  /// Complexity: as `scanKeys(of:_:isReversed:_:)`, with copies of all keys and values in memory.
  ///
  /// - Throws: The errors of `scanKeys(of:_:isReversed:_:)`.
  public func keys(
    in table: OrderedTableID, _ range: KeyRange = KeyRange(), isReversed: Bool = false
  ) throws -> [OrderedEntry] {
    var entries: [OrderedEntry] = []
    let isDone = try scanKeys(of: table, range, isReversed: isReversed) { key, value in
      entries.append(OrderedEntry(key: copy(key), value: copy(value)))
      return .next
    }
    try expect(isDone, "a scan has ended before its end")
    return entries
  }

  /// Returns a copy of the value of a key, or nil.
  ///
  /// Complexity: as `withValue(of:in:_:)`, and linear in the size of the value.
  ///
  /// - Throws: The errors of `withValue(of:in:_:)`.
  public func value(of key: [UInt8], in table: OrderedTableID) throws -> [UInt8]? {
    try withValue(of: key, in: table) { copy($0) }
  }

  private func copy(_ bytes: RawSpan) -> [UInt8] {
    var copy: [UInt8] = []
    copy.append(copying: bytes)
    return copy
  }
}

/// A key of an ordered table, and its value.
public struct OrderedEntry: Hashable, Sendable {
  /// The key.
  public let key: [UInt8]
  /// The value.
  public let value: [UInt8]

  /// Creates an entry.
  public init(key: [UInt8], value: [UInt8]) { (self.key, self.value) = (key, value) }
}

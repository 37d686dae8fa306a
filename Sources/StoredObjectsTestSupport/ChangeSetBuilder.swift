import Files
public import StoredObjectsCore

/// Puts a change set together by hand, to write what no store would: damaged records, odd rows.
///
///     try backend.commit { changes in
///       changes.insert(2, in: songs, [0, 1, 2])
///       changes.set("Favorite", [2, 0, 0, 0])
///     }
public struct ChangeSetBuilder {
  /// What has been put together so far.
  public private(set) var changeSet = ChangeSet()

  /// Starts with no change.
  public init() {}

  /// Adds a row that must be new.
  public mutating func insert(_ rowID: UInt32, in table: TableID, _ record: [UInt8]) {
    change(.insert, rowID, table, record)
  }

  /// Writes a row, new or not.
  public mutating func update(_ rowID: UInt32, in table: TableID, _ record: [UInt8]) {
    change(.update, rowID, table, record)
  }

  /// Removes a row, if it is there.
  public mutating func delete(_ rowID: UInt32, in table: TableID) {
    change(.delete, rowID, table, [])
  }

  /// Names a table without changing it.
  public mutating func touchNothing(in table: TableID) { _ = index(of: table) }

  /// Sets a named buffer, or removes it.
  public mutating func set(_ name: String, _ buffer: [UInt8]?) {
    let range = buffer.map { append($0) }
    changeSet.names.append(.init(name: name, range: range))
  }

  /// Puts a key of an ordered table, or removes it.
  public mutating func set(_ key: [UInt8], to value: [UInt8]?, in table: OrderedTableID) {
    changeSet.set(key, to: value, in: table)
  }

  /// Removes all keys of an ordered table before what else happens to it.
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
  /// Commits a change set that a closure puts together.
  ///
  /// - Throws: what `commit(_:)` throws.
  public func commit(_ build: (inout ChangeSetBuilder) throws -> Void) throws {
    var builder = ChangeSetBuilder()
    try build(&builder)
    try commit(builder.changeSet)
  }

  /// A copy of the record of a row, or nil.
  ///
  /// - Throws: what `withRecord(_:in:_:)` throws.
  public func record(_ rowID: UInt32, in table: TableID) throws -> [UInt8]? {
    try withRecord(rowID, in: table) { copy($0) }
  }

  /// A copy of the buffer of a name, or nil.
  ///
  /// - Throws: what `withNamedBuffer(_:_:)` throws.
  public func namedBuffer(_ name: String) throws -> [UInt8]? {
    try withNamedBuffer(name) { copy($0) }
  }

  /// Copies of all records of a table, read in one scan.
  ///
  /// - Throws: what `scan(_:from:_:)` throws, and ``ConformanceFailure`` when a row comes twice.
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

  /// Copies of the keys of a range, and their values, read in one scan.
  ///
  /// - Throws: what `scanKeys(of:_:isReversed:_:)` throws.
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

  /// A copy of the value of a key, or nil.
  ///
  /// - Throws: what `withValue(of:in:_:)` throws.
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

  /// Pairs a key with a value.
  public init(key: [UInt8], value: [UInt8]) { (self.key, self.value) = (key, value) }
}

public import StoredObjectsCore

/// The complete content of a store.
public struct StoreImage: Hashable, Sendable {
  /// The records by table and row; no table is empty.
  public private(set) var tables: [String: [UInt32: [UInt8]]] = [:]
  /// The named buffers.
  public private(set) var names: [String: [UInt8]] = [:]
  /// The keys and values of the ordered tables, by the descriptions of their names.
  public private(set) var keys: [String: [[UInt8]: [UInt8]]] = [:]

  /// Creates the image of an empty store.
  public init() {}

  /// Reads the content of a store: by scans, and again row by row.
  ///
  /// Complexity: linear in the size of the store, with a look-up for each row and key.
  ///
  /// - Throws: The errors of the backend, and ``ConformanceFailure`` if its answers are
  ///   inconsistent.
  public init(of backend: some StoreBackend) throws {
    for name in try backend.tableNames() {
      let table = try backend.table(named: name)
      let records = try backend.records(in: table)
      let count = try backend.recordCount(in: table)
      try expect(records.count == count, "\(name) has \(count) rows, and lists \(records.count)")
      for (row, record) in records {
        try expect(backend.record(row, in: table) == record, "row \(row) of \(name) has two values")
      }
      tables[name] = records
    }
    for name in try backend.bufferNames() { names[name] = try backend.namedBuffer(name) }
    for name in try backend.orderedTableNames() { try readKeys(of: name, backend) }
  }

  private mutating func readKeys(
    of name: OrderedTableName, _ backend: some StoreBackend
  ) throws {
    let table = try backend.orderedTable(name)
    let entries = try backend.keys(in: table)
    let count = try backend.keyCount(in: table, KeyRange())
    try expect(entries.count == count, "\(name) has \(count) keys, and lists \(entries.count)")
    try expect(
      zip(entries, entries.dropFirst()).allSatisfy { $0.key.lexicographicallyPrecedes($1.key) },
      "the keys of \(name) are not in their order")
    for entry in entries {
      try expect(
        backend.value(of: entry.key, in: table) == entry.value, "a key of \(name) has two values")
    }
    keys["\(name)"] = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
  }

  /// Applies a save.
  ///
  /// Complexity: linear in the number of changes; also copies the tables that other images share.
  public mutating func apply(_ save: ScriptedSave) {
    for row in save.rows { set(row.table, row.rowID, row.record) }
    for (name, buffer) in save.names { set(name, buffer) }
    applyKeys(of: save)
  }

  /// Applies the changes of a save to ordered tables.
  ///
  /// Complexity: linear in the number of changes; also copies the table if other images share it.
  public mutating func applyKeys(of save: ScriptedSave) {
    if save.clearsKeys { keys["\(ScriptedSave.index)"] = nil }
    for (key, value) in save.keys { set(key, to: value, in: ScriptedSave.index) }
  }

  /// Writes or removes a row.
  ///
  /// Complexity: constant time; linear in the rows of a table that other images share.
  public mutating func set(_ table: String, _ rowID: UInt32, _ record: [UInt8]?) {
    tables[table, default: [:]][rowID] = record
    if tables[table]?.isEmpty == true { tables[table] = nil }
  }

  /// Sets or removes a named buffer.
  ///
  /// Complexity: constant time; linear in the number of buffers if other images share them.
  public mutating func set(_ name: String, _ buffer: [UInt8]?) { names[name] = buffer }

  /// Puts or removes a key of an ordered table.
  ///
  /// Complexity: constant time; linear in the keys of a table that other images share.
  public mutating func set(_ key: [UInt8], to value: [UInt8]?, in table: OrderedTableName) {
    keys["\(table)", default: [:]][key] = value
    if keys["\(table)"]?.isEmpty == true { keys["\(table)"] = nil }
  }

  /// Returns the image after a save.
  ///
  /// Complexity: linear in the number of changes, and in the rows and keys of the changed tables,
  /// which are copied.
  public func applying(_ save: ScriptedSave) -> StoreImage {
    var image = self
    image.apply(save)
    return image
  }

  /// Returns the rows, buffers and ordered tables that differ from another image.
  ///
  /// Complexity: O(n log n) for n rows, buffers and keys.
  public func differences(from other: StoreImage) -> [String] {
    var differences: [String] = []
    for table in Set(tables.keys).union(other.tables.keys).sorted() {
      let (mine, others) = (tables[table] ?? [:], other.tables[table] ?? [:])
      for row in Set(mine.keys).union(others.keys).sorted() where mine[row] != others[row] {
        differences.append("\(table) \(row)")
      }
    }
    for name in Set(names.keys).union(other.names.keys).sorted()
    where names[name] != other.names[name] { differences.append("buffer \(name)") }
    for name in Set(keys.keys).union(other.keys.keys).sorted() where keys[name] != other.keys[name]
    {
      differences.append("the keys of \(name)")
    }
    return differences
  }
}

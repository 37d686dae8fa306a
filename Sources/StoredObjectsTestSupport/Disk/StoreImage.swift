public import StoredObjectsCore

/// All that a store holds.
public struct StoreImage: Hashable, Sendable {
  /// The records by table and row; no table is empty.
  public private(set) var tables: [String: [UInt32: [UInt8]]] = [:]
  /// The named buffers.
  public private(set) var names: [String: [UInt8]] = [:]

  /// An empty store.
  public init() {}

  /// Reads everything: by scans, and again row by row.
  ///
  /// - Throws: what the backend throws, ``ConformanceFailure`` when it contradicts itself.
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
  }

  /// Takes in a save.
  public mutating func apply(_ save: ScriptedSave) {
    for row in save.rows { set(row.table, row.rowID, row.record) }
    for (name, buffer) in save.names { set(name, buffer) }
  }

  /// Writes a row, or removes it.
  public mutating func set(_ table: String, _ rowID: UInt32, _ record: [UInt8]?) {
    tables[table, default: [:]][rowID] = record
    if tables[table]?.isEmpty == true { tables[table] = nil }
  }

  /// Sets a named buffer, or removes it.
  public mutating func set(_ name: String, _ buffer: [UInt8]?) { names[name] = buffer }

  /// The image after a save.
  public func applying(_ save: ScriptedSave) -> StoreImage {
    var image = self
    image.apply(save)
    return image
  }

  /// In how many rows and buffers this differs from another image, for the reader of a failure.
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
    return differences
  }
}

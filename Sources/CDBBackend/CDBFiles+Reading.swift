import CDB
import Files
public import StoreEngine

extension CDBFiles {
  /// The number of rows in a table.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`.
  public func recordCount(in table: TableID) throws -> Int {
    try file(table).reader()?.count ?? 0
  }

  /// Lends the record of a row where it is in the file; the closure runs under no lock.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`, and what the closure throws.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    let file = try file(table)
    guard let reader = try file.reader() else { return nil }
    return try cdbErrors(className: file.name) {
      try RowKey.lend(rowID) { try reader.withValue(forKey: $0, body) }
    }
  }

  /// Lends the buffer of a name where it is in the file.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`, and what the closure throws.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    try checkOpen()
    guard let reader = try buffers.reader() else { return nil }
    return try cdbErrors(className: nil) { try reader.withValue(forKey: name, body) }
  }

  /// The names of all saved buffers, in no order.
  ///
  /// Complexity: linear in the size of the buffers' file.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`.
  public func bufferNames() throws -> [String] {
    try checkOpen()
    guard let reader = try buffers.reader() else { return [] }
    var names: [String] = []
    try cdbErrors(className: nil) {
      try reader.forEach { key, _ in
        guard let name = String(validating: [UInt8](copying: key), as: UTF8.self) else {
          throw StoreError(
            .damaged, "The name of a buffer is not UTF-8.", at: .init(path: buffers.path))
        }
        names.append(name)
      }
    }
    return names
  }

  /// Lends the records of a table in the order of the file; the closure runs under no lock.
  ///
  /// One call sees the table as it was when the call began.
  ///
  /// Complexity: linear in the part of the file that is scanned.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` (a key that is no row ID) or `closed`, and
  ///   what the closure throws.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    let file = try file(table)
    let (reader, generation) = try file.current()
    if let position, position.generation != generation { return .disturbed }
    guard let reader else { return .finished }
    let place = try cdbErrors(className: file.name) {
      try reader.scan(from: position.map { Int(clamping: $0.place) }) { offset, key, value in
        guard let rowID = RowKey.rowID(key) else {
          throw StoreError(
            .damaged,
            "A key of \(key.byteCount) bytes is no row ID: this is not the file of a class.",
            at: .init(path: reader.path, className: file.name, offset: offset))
        }
        return try body(rowID, value) == .next
      }
    }
    guard let place else { return .finished }
    return .paused(ScanPosition(place: UInt64(place), generation: generation))
  }
}

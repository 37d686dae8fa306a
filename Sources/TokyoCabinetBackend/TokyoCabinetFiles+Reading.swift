public import StoreEngine
import TokyoCabinetFile

extension TokyoCabinetFiles {
  /// The number of rows in a table, row 1 included; 0 for a table that was never written.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`.
  public func recordCount(in table: TableID) throws -> Int {
    try file(table).reading { $0.count } ?? 0
  }

  /// Lends the record of a row to a closure, which runs under no lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`, and what the closure throws.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    let file = try file(table)
    return try withKey(of: rowID) { key in try file.reading { try $0.withValue(forKey: key, body) }
    }
  }

  /// Copies the record of a row.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`.
  public func copyRecord(
    _ rowID: UInt32, in table: TableID, to bytes: inout [UInt8]
  ) throws -> Bool {
    let file = try file(table)
    guard let hashFile = try file.file() else { return false }
    do {
      return try withKey(of: rowID) { (key) throws(HashFileError) in
        try hashFile.copyValue(forKey: key, to: &bytes)
      }
    } catch {
      throw StoreError(error, className: file.name)
    }
  }

  /// Lends the buffer that is saved under a name to a closure, which runs under no lock.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`, and what the closure throws.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    try checkOpen()
    return try withKey(ofBuffer: name) { key in
      try buffers.reading { try $0.withValue(forKey: key, body) }
    }
  }

  /// The names of all saved buffers, in no order.
  ///
  /// Complexity: linear in the size of the buffers' file.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` or `closed`.
  public func bufferNames() throws -> [String] {
    try checkOpen()
    var names: [String] = []
    _ = try lendAll(of: buffers, from: nil) { key, _ in
      guard let name = bufferName(ofKey: key) else {
        throw StoreError(
          .damaged, "the name of a buffer is not UTF-8", at: .init(path: buffers.path))
      }
      names.append(name)
      return .next
    }
    return names
  }
}

import CDB
import Files
import StoreEngine

/// A constant database of a class, open for reading.
final class CDBClassFile: ClassFile {
  private let reader: CDBReader
  private let name: String

  init(_ reader: CDBReader, name: String) { (self.reader, self.name) = (reader, name) }

  /// The number of records.
  var recordCount: Int { reader.count }

  /// The size in bytes.
  var byteCount: Int { reader.byteCount }

  /// Calls a closure with the record of a row, in place and without holding a lock.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func withRecord<Result>(
    _ rowID: UInt32, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try errors { try RowKey.lend(rowID) { try reader.withValue(forKey: $0, body) } }
  }

  /// Copies the record of a row.
  ///
  /// - Throws: `StoreError` with `damaged`.
  func copyRecord(_ rowID: UInt32, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    try withRecord(rowID) { bytes.append(copying: $0) } != nil
  }

  /// Calls a closure with the bytes of a named buffer, in place and without holding a lock.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func withBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try errors { try reader.withValue(forKey: name, body) }
  }

  /// Calls a closure with the keys in the order of the file.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func forEachKey(_ body: (RawSpan) throws(StoreError) -> Void) throws(StoreError) {
    try errors { try reader.forEach { key, _ in try body(key) } }
  }

  /// Calls a closure with the records in the order of the file, until the closure pauses.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func scan(
    from offset: Int?, _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Int? {
    try errors {
      try reader.scan(from: offset) { offset, key, value in
        guard let rowID = RowKey.rowID(key) else {
          throw StoreError.notARowID(
            byteCount: key.byteCount,
            at: .init(path: reader.path, className: name, offset: offset))
        }
        return try body(rowID, value) == .next
      }
    }
  }

  /// Writes a new file with the records and the changes.
  ///
  /// - Throws: `StoreError` with `rowExists`, `noSpace`, `damaged` or `ioError`.
  func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError) {
    try FilePreparation(changes: changes, reader: reader, new: new).run()
  }

  private func errors<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
    try cdbErrors(className: name, body)
  }
}

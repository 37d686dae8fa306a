import Files
import StoreEngine
import TokyoCabinetFile

/// A hash file of a class, open for reading.
final class HashClassFile: ClassFile {
  let file: HashFile
  /// Whether this process has written the file, so that the C library may trust it.
  let isOurs: Bool
  private let format: TokyoCabinetFormat
  private let name: String

  init(_ file: HashFile, _ format: TokyoCabinetFormat, name: String, isOurs: Bool) {
    (self.file, self.format, self.name, self.isOurs) = (file, format, name, isOurs)
  }

  /// The number of records according to the header.
  var recordCount: Int { file.count }

  /// The size in bytes.
  var byteCount: Int { file.fileSize }

  /// Calls a closure with the record of a row, without holding a lock.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func withRecord<Result>(
    _ rowID: UInt32, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try errors { try withKey(of: rowID) { try file.withValue(forKey: $0, body) } }
  }

  /// Copies the record of a row.
  ///
  /// - Throws: `StoreError` with `damaged`.
  func copyRecord(_ rowID: UInt32, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    do {
      return try file.copyRecord(of: rowID, to: &bytes)
    } catch {
      throw StoreError(error, className: name)
    }
  }

  /// Adds copies of the records of the given rows to a batch.
  ///
  /// Complexity: linear in the number of rows; faster for rows in ascending order that are close to
  /// each other in the file.
  ///
  /// - Throws: `StoreError` with `damaged`.
  func copyRecords(_ rows: [UInt32], to batch: inout RecordBatch) throws(StoreError) {
    do {
      try file.copyRecords(
        of: rows, to: &batch.bytes, &batch.entries,
        byteLimit: batch.stopsWhenFull ? batch.limits.bytes : .max)
    } catch {
      throw StoreError(error, className: name)
    }
  }

  /// Returns for each of the given rows whether it has a record.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: `StoreError` with `damaged`.
  func hasRecords(_ rows: [UInt32]) throws(StoreError) -> [Bool] {
    do { return try file.contains(rows: rows) } catch { throw StoreError(error, className: name) }
  }

  /// Calls a closure with the bytes of a named buffer, without holding a lock.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func withBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try errors { try withKey(ofBuffer: name) { try file.withValue(forKey: $0, body) } }
  }

  /// Copies a named buffer.
  ///
  /// - Throws: `StoreError` with `damaged`.
  func copyBuffer(_ name: String, to bytes: inout [UInt8]) throws(StoreError) -> Bool {
    do {
      return try withKey(ofBuffer: name) { (key) throws(HashFileError) in
        try file.copyValue(forKey: key, to: &bytes)
      }
    } catch {
      throw StoreError(error, className: self.name)
    }
  }

  /// Calls a closure with the keys in the order of the file.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func forEachKey(_ body: (RawSpan) throws(StoreError) -> Void) throws(StoreError) {
    try errors { try file.forEach { key, _ in try body(key) } }
  }

  /// Calls a closure with the records in the order of the file, until the closure pauses.
  ///
  /// - Throws: `StoreError` with `damaged`, or an error of the closure.
  func scan(
    from offset: Int?, _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Int? {
    try errors {
      try file.scan(from: offset) { key, value in
        guard let row = HashFileKeys.rowID(key) else {
          throw StoreError.notARowID(
            byteCount: key.byteCount, at: .init(path: file.path, className: name))
        }
        return try body(row, value) == .next ? .next : .pause
      }
    }
  }

  /// Copies the next records into a batch, in the order of the file.
  ///
  /// - Throws: `StoreError` with `damaged`.
  func copyRecords(from offset: Int?, to batch: inout RecordBatch) throws(StoreError) -> Int? {
    do {
      return try file.copyRecords(
        from: offset, to: &batch.bytes, &batch.entries,
        limits: (batch.limits.bytes, batch.limits.records))
    } catch {
      throw StoreError(error, className: name)
    }
  }

  // MARK: New files

  /// Writes a new file with the records and the changes.
  ///
  /// - Throws: `StoreError` with `rowExists`, `noSpace`, `damaged` or `ioError`.
  func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError) {
    try format.write(changes, over: self, to: new)
  }

  /// Writes a new file without gaps, with buckets for the present number of records.
  ///
  /// - Returns: false if it is not smaller and this one already has the byte order of the C
  ///   library.
  /// - Throws: `StoreError` with `noSpace`, `damaged` or `ioError`.
  func compact(to new: NewClassFile) throws(StoreError) -> Bool {
    let order = try format.libraryByteOrder(beside: new.location)
    return try storeErrors(at: new.location) {
      var layout = file.layout
      layout.byteOrder = order
      layout.bucketCount = Layouts.bucketCount(for: file.count)
      try FileRebuild(old: file, layout: layout, new: new).run()
      return try sizeOfFile(at: new.location.file) < byteCount || file.header.byteOrder != order
    }
  }

  private func errors<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
    try storeErrors(at: file.path, className: name, body)
  }
}

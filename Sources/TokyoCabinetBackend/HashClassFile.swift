import Files
import StoreEngine
import TokyoCabinetFile

/// A hash file of a class, open for reading.
final class HashClassFile: ClassFile {
  let file: HashFile
  /// Whether this process has made the file, so that the C library may trust it.
  let isOurs: Bool
  private let format: TokyoCabinetFormat
  private let name: String

  init(_ file: HashFile, _ format: TokyoCabinetFormat, name: String, isOurs: Bool) {
    (self.file, self.format, self.name, self.isOurs) = (file, format, name, isOurs)
  }

  /// The number of records, as the header has it.
  var recordCount: Int { file.count }

  /// The size in bytes.
  var byteCount: Int { file.fileSize }

  /// Lends the record of a row to a closure, which runs under no lock.
  ///
  /// - Throws: `StoreError` with `damaged`, and what the closure throws.
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

  /// Adds copies of the records of some rows to a batch.
  ///
  /// Complexity: linear in the number of rows; less for those that are close to each other in the
  /// file, where they are given in ascending order.
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

  /// Returns which rows have a record.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: `StoreError` with `damaged`.
  func hasRecords(_ rows: [UInt32]) throws(StoreError) -> [Bool] {
    do { return try file.contains(rows: rows) } catch { throw StoreError(error, className: name) }
  }

  /// Lends the buffer of a name to a closure, which runs under no lock.
  ///
  /// - Throws: `StoreError` with `damaged`, and what the closure throws.
  func withBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try errors { try withKey(ofBuffer: name) { try file.withValue(forKey: $0, body) } }
  }

  /// Copies the buffer of a name.
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

  /// Lends the keys in the order of the file.
  ///
  /// - Throws: `StoreError` with `damaged`, and what the closure throws.
  func forEachKey(_ body: (RawSpan) throws(StoreError) -> Void) throws(StoreError) {
    try errors { try file.forEach { key, _ in try body(key) } }
  }

  /// Lends the records in the order of the file, until the closure pauses.
  ///
  /// - Throws: `StoreError` with `damaged`, and what the closure throws.
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

  /// Makes a new file of the records with changes.
  ///
  /// - Throws: `StoreError` with `rowExists`, `noSpace`, `damaged` or `ioError`.
  func write(_ changes: ClassFileChanges, to new: NewClassFile) throws(StoreError) {
    try format.write(changes, over: self, to: new)
  }

  /// Makes a new file without gaps, with buckets for the records that it has.
  ///
  /// - Returns: False when it is not smaller, and this one has the byte order of the C library
  ///   here.
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

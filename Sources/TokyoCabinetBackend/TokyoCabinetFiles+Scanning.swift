public import StoreEngine
import TokyoCabinetFile

extension TokyoCabinetFiles {
  /// Lends the records of a table in the order of the file; the closure runs under no lock.
  ///
  /// One call sees the table as it was when the call began: it keeps its file, whichever takes the
  /// place of that.
  ///
  /// Complexity: linear in the size of the file that is scanned.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` (a key that is no row ID) or `closed`, and
  ///   what the closure throws.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    let file = try file(table)
    return try lendAll(of: file, from: position) { key, value in
      guard let row = rowID(ofKey: key) else {
        throw StoreError(
          .damaged, "a key of \(key.byteCount) bytes is no row ID: this is not the file of a class",
          at: .init(path: file.path, className: file.name))
      }
      return try body(row, value)
    }
  }

  /// Copies the next records of a table into a batch, in the order of the file.
  ///
  /// Complexity: linear in the size of the batch.
  ///
  /// - Throws: `StoreError` with `ioError`, `damaged` (a key that is no row ID) or `closed`.
  public func copyRecords(
    of table: TableID, from position: ScanPosition?, to batch: inout RecordBatch
  ) throws -> ScanEnd {
    let file = try file(table)
    let (hashFile, generation) = try file.fileAndGeneration()
    if let position, position.generation != generation { return .disturbed }
    guard let hashFile else { return .finished }
    do {
      let place = try hashFile.copyRecords(
        from: position.map { Int($0.place) }, to: &batch.bytes, &batch.places,
        limits: (batch.limits.bytes, batch.limits.records))
      guard let place else { return .finished }
      return .paused(ScanPosition(place: UInt64(place), generation: generation))
    } catch {
      throw StoreError(error, className: file.name)
    }
  }

  /// Lends the records of a file, with their keys.
  func lendAll(
    of file: TableFile, from position: ScanPosition?,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    let (hashFile, generation) = try file.fileAndGeneration()
    if let position, position.generation != generation { return .disturbed }
    guard let hashFile else { return .finished }
    let place = try storeErrors(at: hashFile.path, className: file.name) {
      try hashFile.scan(from: position.map { Int($0.place) }) { key, value in
        try body(key, value) == .next ? .next : .pause
      }
    }
    guard let place else { return .finished }
    return .paused(ScanPosition(place: UInt64(place), generation: generation))
  }
}

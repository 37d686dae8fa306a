import Locks
public import StoredObjectsCore
import TokyoCabinet

extension TokyoCabinetFiles {
  /// Lends the records of a table in the order of the file; the closure runs under no lock.
  ///
  /// One call sees the table as it was when the call began: a commit that comes in between first
  /// hands it a copy of the rest.
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

  /// Lends the records of a file, with their keys.
  func lendAll(
    of file: TableFile, from position: ScanPosition?,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    let scan = TableScan(from: position?.place)
    let generation = file.lock.reading {
      file.begin(scan)
      return file.generation
    }
    defer { file.end(scan) }
    if let position, position.generation != generation { return .disturbed }
    while let batch = try file.reading({ try scan.next(from: $0) }) {
      if let stop = try batch.firstStop({ try body($0, $1) == .next }) {
        return .paused(ScanPosition(place: batch.end(of: stop), generation: generation))
      }
    }
    return .finished
  }
}

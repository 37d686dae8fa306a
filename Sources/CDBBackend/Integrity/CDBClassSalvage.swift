import CDB
import Files
public import StoreEngine

/// A search for the records of a constant database that may be damaged.
///
/// Every record is found by its slot, or by the record before it.
public struct CDBClassSalvage: ClassFileSalvage {
  private var salvage: CDBSalvage

  init(_ salvage: CDBSalvage) { self.salvage = salvage }

  /// Calls a closure with the records in the order of the file.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: An error of the closure.
  public mutating func run(
    isValid: ((_ key: RawSpan, _ value: RawSpan) -> Bool)?, _ body: Body
  ) throws(StoreError) {
    try salvage.run { (record) throws(StoreError) in
      try record.key.lend { (key) throws(StoreError) in
        try record.value.lend { (value) throws(StoreError) in
          try body(key, value, record.offset, record.isCertain)
        }
      }
    }
  }

  /// Returns the damage found by the last run.
  ///
  /// Complexity: linear in the number of unreadable parts.
  public func damage(foundCount: Int) -> [ClassFileDamage] {
    var all: [ClassFileDamage] = []
    if !salvage.hasTables {
      let message = "The file's index is gone: records at its end may be missing."
      all.append(.init(.fileDamaged, message))
    }
    if salvage.missingCount > 0 {
      let message = "\(salvage.missingCount) records were not found where they should be."
      all.append(.init(.countMismatch, message))
    }
    return all + ClassFileDamage.gaps(salvage.gaps)
  }
}

/// A writer of a new constant database, one record after another.
public struct CDBClassWriter: ClassFileWriter {
  private let writer: CDBWriter
  private let new: NewClassFile

  init(_ new: NewClassFile) throws(StoreError) {
    self.new = new
    writer = try cdbErrors(className: new.location.className) {
      try CDBWriter(new.location.file, format: .classic, rights: new.rights)
    }
  }

  /// Adds a record.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func add(key: RawSpan, value: RawSpan) throws(StoreError) {
    try cdbErrors(className: new.location.className) { _ = try writer.add(value, forKey: key) }
  }

  /// Adds the record of a row.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func add(_ rowID: UInt32, value: RawSpan) throws(StoreError) {
    try RowKey.lend(rowID) { (key) throws(StoreError) in try add(key: key, value: value) }
  }

  /// Completes the file, and syncs it if that was requested.
  ///
  /// Complexity: linear in the number of records, for which tables are written. It waits for the
  /// disk if the file is synced.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func finish() throws(StoreError) {
    try cdbErrors(className: new.location.className) {
      try writer.finish(
        synchronize: new.isSynced, trailer: new.mark?.markedBytes ?? [], isNameSynced: false)
    }
  }

  /// Removes the file.
  public func cancel() { writer.cancel() }
}

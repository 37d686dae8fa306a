import Files
public import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

/// A writer of a new hash file, one record after another.
public struct HashClassWriter: ClassFileWriter {
  private let database: HashDatabase
  private let new: NewClassFile

  init(_ new: NewClassFile, tuning: Tuning) throws(StoreError) {
    self.new = new
    database = try storeErrors(at: new.location) {
      try HashDatabase(
        path: new.location.openingPath, mode: .readWrite([.create, .truncate]), tuning: tuning)
    }
  }

  /// Adds a record.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func add(key: RawSpan, value: RawSpan) throws(StoreError) {
    try storeErrors(at: new.location) { try database.put(key: key, value: value) }
  }

  /// Adds the record of a row.
  ///
  /// Complexity: constant time on average, and linear in the size of the record.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func add(_ rowID: UInt32, value: RawSpan) throws(StoreError) {
    try withKey(of: rowID) { (key) throws(StoreError) in try add(key: key, value: value) }
  }

  /// Completes the file, and syncs it if that was requested.
  ///
  /// Complexity: constant time; in an encrypted store linear in the size of the file, which gets a
  /// checksum. It waits for the disk if the file is synced.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func finish() throws(StoreError) {
    try storeErrors(at: new.location) {
      try database.close()
      if new.isEncrypted { try FileStamp.put(on: new.location, isSynced: false) }
      if new.isSynced { try syncFile(new.location.file) }
    }
  }

  /// Removes the file.
  public func cancel() {
    try? database.close()
    try? removeFile(new.location.file)
  }
}

extension TokyoCabinetFormat {
  /// Opens a file that may be damaged; returns nil if it does not exist.
  ///
  /// Complexity: constant time; without a valid header, linear in the size of the file.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func salvage(_ location: ClassFileLocation) throws(StoreError) -> HashClassSalvage? {
    try storeErrors(at: location) {
      try exists(location.file) ? HashClassSalvage(HashFileSalvage(location.file)) : nil
    }
  }

  /// Creates a file with a layout for the records of another one, with room for those of a log.
  ///
  /// Complexity: linear in the number of buckets of the new file. If the header of the other file
  /// is damaged, that file is read.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func writer(
    _ new: NewClassFile, sizedAs old: ClassFileLocation?
  ) throws(StoreError) -> HashClassWriter {
    var tuning = Tuning(alignmentPower: 2)
    if let old, let size = try? sizeOfFile(at: old.file), size > 0 {
      let expected = (try? HashFileSalvage(old.file).expectedCount) ?? 0
      tuning.bucketCount = Tuning.bucketCount(forExpectedRecords: min(expected, size / 16))
      // 32-bit offsets reach 16 GiB.
      if size > 4 << 30 { tuning.options = .large }
    }
    return try HashClassWriter(new, tuning: tuning)
  }
}

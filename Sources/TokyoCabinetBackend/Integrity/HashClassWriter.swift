import Files
public import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

/// A new hash file that takes one record after the other.
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
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func add(key: RawSpan, value: RawSpan) throws(StoreError) {
    try storeErrors(at: new.location) { try database.put(key: key, value: value) }
  }

  /// Adds the record of a row.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func add(_ rowID: UInt32, value: RawSpan) throws(StoreError) {
    try withKey(of: rowID) { (key) throws(StoreError) in try add(key: key, value: value) }
  }

  /// Makes the file whole, and brings it to the disk if it is to be.
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
  /// Opens a file that may be damaged; nil when there is none.
  ///
  /// - Throws: `StoreError` with `ioError`.
  public func salvage(_ location: ClassFileLocation) throws(StoreError) -> HashClassSalvage? {
    try storeErrors(at: location) {
      try exists(location.file) ? HashClassSalvage(HashFileSalvage(location.file)) : nil
    }
  }

  /// Begins a file that is laid out for the records of another one, and for those of a log on top.
  ///
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  public func writer(
    _ new: NewClassFile, sizedAs old: ClassFileLocation?
  ) throws(StoreError) -> HashClassWriter {
    var tuning = Tuning(alignmentPower: 2)
    if let old, let size = try? sizeOfFile(at: old.file), size > 0 {
      let expected = (try? HashFileSalvage(old.file).expectedCount) ?? 0
      tuning.bucketCount = Tuning.bucketCount(forExpectedRecords: min(expected, size / 16))
      // 32 bits reach as far as 16 GiB.
      if size > 4 << 30 { tuning.options = .large }
    }
    return try HashClassWriter(new, tuning: tuning)
  }
}

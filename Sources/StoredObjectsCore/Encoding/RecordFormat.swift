import StoreEngine

/// The format of a class's records: the fields around the content.
struct RecordFormat: Sendable {
  let classID: UInt8
  /// The number of the layout.
  let version: UInt8
  /// The version of the class.
  let classVersion: UInt8
  let versionsRecords: Bool
  let checksumsRecords: Bool

  init(_ entry: RegisteredClass) {
    classID = entry.classID
    (version, classVersion) = (entry.version, entry.classVersion)
    versionsRecords = entry.versionsRecords
    checksumsRecords = entry.checksumsRecords
  }
}

extension DataBuffer {
  /// Appends the record of an object.
  ///
  /// - Returns: The range of the record.
  @inline(__always)
  mutating func writeRecord(of object: StoredObject, _ format: RecordFormat) throws -> Range<Int> {
    let start = beginRecord()
    if format.versionsRecords { write(format.version) }
    try object.writeContent(to: &self)
    if let failure { throw failure }
    if format.checksumsRecords { writeChecksum(classID: format.classID, rowID: object.rowID) }
    guard byteCount - start <= UInt32.max else {
      throw DataBufferError(.tooLong, at: byteCount - start, "the record has 4 GiB or more")
    }
    return start..<byteCount
  }
}

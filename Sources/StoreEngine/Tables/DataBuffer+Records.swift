extension DataBuffer {
  /// Starts over as a buffer that reads a record, and keeps its memory.
  ///
  /// - Returns: false when there is no such record.
  package mutating func fill(
    from backend: any StoreBackend, _ rowID: UInt32, in table: TableID
  ) throws(StoreError) -> Bool {
    try fill { (bytes) throws(StoreError) in try backend.copyRecord(rowID, in: table, to: &bytes) }
  }

  /// Starts over as a buffer that reads a copy of a record.
  package mutating func fill(with record: ArraySlice<UInt8>) {
    _ = fill { bytes in
      bytes += record
      return true
    }
  }
}

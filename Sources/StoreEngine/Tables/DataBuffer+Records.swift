extension DataBuffer {
  /// Restarts the buffer, keeping its memory, to read a record.
  ///
  /// - Returns: Whether the record exists.
  package mutating func fill(
    from backend: any StoreBackend, _ rowID: UInt32, in table: TableID
  ) throws(StoreError) -> Bool {
    try fill { (bytes) throws(StoreError) in try backend.copyRecord(rowID, in: table, to: &bytes) }
  }

  /// Restarts the buffer to read a copy of a record.
  package mutating func fill(with record: ArraySlice<UInt8>) {
    _ = fill { bytes in
      bytes += record
      return true
    }
  }
}

extension ChangeSet {
  /// The maximum size of a record or a named buffer: 4 GiB minus 1 byte.
  ///
  /// A backend may have a lower limit, see ``ClassFileFormat/maximumRecordByteCount``.
  @inlinable public static var maximumRecordByteCount: Int { Int(UInt32.max) }
  /// The maximum size of a key of an ordered table with its value: 2 GiB minus 1 byte.
  @inlinable public static var maximumKeyByteCount: Int { Int(Int32.max) }

  /// Refuses changes that can't be written to files later.
  ///
  /// Complexity: constant time, unless the whole change set is larger than the limit.
  ///
  /// - Throws: ``StoreError`` with `tooLarge`, or an error of `tableName`.
  package func checkRecordSizes(
    _ limit: Int, keyLimit: Int = ChangeSet.maximumKeyByteCount,
    tableName: (TableID) throws(StoreError) -> String
  ) throws(StoreError) {
    // The key of a record and the name of a buffer count, too.
    guard bytes.count > min(limit, keyLimit) - 256 || !names.isEmpty else { return }
    for table in tables {
      for record in table.records where record.range.count > limit - 4 {
        throw Self.tooLarge(
          "The record", record.range.count, limit, "maximumRecordByteCount",
          .init(className: try tableName(table.table), rowID: record.rowID))
      }
    }
    for name in names {
      let count = name.name.utf8.count + (name.range?.count ?? 0)
      if count > limit {
        throw Self.tooLarge(
          "A named buffer with its name", count, limit, "maximumRecordByteCount",
          .init(className: StoreDirectory.buffers))
      }
    }
    for table in ordered {
      for change in table.changes where change.key.count + change.value.count > keyLimit {
        throw Self.tooLarge(
          "A key with its value", change.key.count + change.value.count, keyLimit,
          "maximumKeyByteCount", .init())
      }
    }
  }

  package static func tooLarge(
    _ what: String, _ count: Int, _ limit: Int, _ name: String, _ location: StoreError.Location
  ) -> StoreError {
    StoreError(
      .tooLarge,
      """
      \(what) has \(count) bytes, and at most \(limit) are allowed (\(name)): divide it among \
      several.
      """,
      at: location)
  }
}

import Files
import StoreEngine

extension Store {
  /// Rewrites all records of a class that an earlier version of the class has written.
  ///
  /// Reading takes care of old records anyway; this is for those who want to be rid of them. Each
  /// batch is a save of its own, so an upgrade that is interrupted has done what it has done, and
  /// the next call does the rest.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - batchSize: How many objects to rewrite with one save, at least 1.
  ///   - progress: Is told after each batch how many of how many are done.
  /// - Returns: the number of records rewritten.
  ///
  /// Complexity: a scan of the class, and a save of what is old. Four bytes of memory for each old
  /// record, and one batch of objects.
  ///
  /// - Throws: ``StoreError`` with `unsavedChanges` when there are any, for they would be saved
  ///   along; `notRegistered`, `damaged`, `newerVersion`, and as ``saveChanges()``.
  @discardableResult
  public func upgradeObjects<Object: StoredObject>(
    of type: Object.Type, batchSize: Int = 10_000,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws(StoreError) -> Int {
    precondition(batchSize > 0, "A batch has at least one object.")
    let entry = try requireRegistration(of: type)
    guard !hasUnsavedChanges else {
      throw StoreError(
        .unsavedChanges, "Save or discard changes before upgrading.", at: entry.location())
    }
    let rows = try oldRows(entry)
    for start in stride(from: 0, to: rows.count, by: batchSize) {
      let end = min(start + batchSize, rows.count)
      try rewrite(rows[start..<end], type)
      progress(end, rows.count)
    }
    return rows.count
  }

  private func rewrite<Object: StoredObject>(
    _ rows: ArraySlice<UInt32>, _ type: Object.Type
  ) throws(StoreError) {
    do {
      for rowID in rows { try object(type, rowID: rowID)?.willUpdate() }
      try saveChanges()
    } catch {
      // They are no changes of the application's, and would keep the next call from doing the rest.
      discardChanges()
      throw error
    }
  }

  /// The rows whose records are of an earlier version.
  private func oldRows(_ entry: RegisteredClass) throws(StoreError) -> [UInt32] {
    guard entry.versionsRecords else { return [] }
    do {
      var rows: [UInt32] = []
      _ = try backend.scan(entry.table, from: nil) { rowID, record in
        if rowID > ClassMetadata.rowID, let version = record.firstByte, version != entry.version {
          rows.append(rowID)
        }
        return .next
      }
      return rows
    } catch {
      throw .wrapping(error, .ioError, at: entry.location())
    }
  }
}

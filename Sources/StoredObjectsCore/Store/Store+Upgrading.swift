import Files
import StoreEngine

extension Store {
  /// Rewrites all records of a class that were written by an earlier version of the class.
  ///
  /// Old records can be read anyway; upgrade if you want to get rid of them. Each batch is a
  /// separate save, so an interrupted upgrade keeps the batches it has saved, and the next call
  /// does the rest.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - batchSize: The number of objects to rewrite in one save, at least 1.
  ///   - progress: Called after each batch with the numbers of rewritten and of all old records.
  /// - Returns: the number of records rewritten.
  ///
  /// Afterwards the numbers of the earlier layouts are free, of which a class can have 256.
  ///
  /// Complexity: two scans of the class, and a save of the old records. Takes four bytes of memory
  /// for each old record, and one batch of objects.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `unsavedChanges` if there are any, because they
  ///   would be saved as well; `notRegistered`, `damaged`, `newerVersion`, and as
  ///   ``saveChanges()``.
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
    try freeLayoutNumbers(entry)
    return rows.count
  }

  /// Marks the layouts that no record uses anymore, so that later ones can have their numbers.
  private func freeLayoutNumbers(_ entry: RegisteredClass) throws(StoreError) {
    guard entry.versionsRecords, try backend.canCommit(), !entry.layouts.isOutdated else { return }
    do {
      try backend.coordinator.whileCommitting { () throws(StoreError) in
        let saved = try backend.savedLayouts(of: entry.name)
        let used = try usedNumbers(entry)
        let marked = saved.map {
          used.contains($0.number) || $0.number == entry.version ? $0 : $0.withoutRecords
        }
        guard saved.contains(where: { $0.number == entry.version }),
          !saved.elementsEqual(marked, by: { $0.hasRecords == $1.hasRecords })
        else { return }
        var changes = ChangeSet()
        changes.setBuffer(
          named: LayoutFormat.bufferName(of: entry.name),
          LayoutFormat.sealed(marked, of: entry.name))
        var request = CommitRequest(author: configuration.author)
        request.sender = inbox
        if let commit = try backend.commit(changes, request) { lastCommit = commit }
      }
    } catch {
      throw .wrapping(error, .ioError, at: entry.location())
    }
  }

  /// Returns the layout numbers in use: the first bytes of all records.
  private func usedNumbers(_ entry: RegisteredClass) throws(StoreError) -> Set<UInt8> {
    var used: Set<UInt8> = []
    _ = try backend.scan(entry.table, from: nil) { rowID, record in
      if rowID > ClassMetadata.rowID, let number = record.firstByte { used.insert(number) }
      return .next
    }
    return used
  }

  private func rewrite<Object: StoredObject>(
    _ rows: ArraySlice<UInt32>, _ type: Object.Type
  ) throws(StoreError) {
    do {
      for rowID in rows { try object(type, rowID: rowID)?.willUpdate() }
      try saveChanges()
    } catch {
      // These are not the application's changes, and would make the next call throw
      // `unsavedChanges`.
      discardChanges()
      throw error
    }
  }

  /// Returns the rows whose records were written by an earlier version.
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

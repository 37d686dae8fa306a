// A removed or renamed class leaves a file without records, and its indexes leave files without
// keys. Such a file is removed once nothing refers to it: neither the manifest nor the log. A crash
// before that leaves an empty file, which the next opening for writing removes.

extension LoggedBackend {
  /// Returns the names of the files that a fold may leave empty.
  func emptied(by pending: PendingRecords) throws(StoreError) -> [String] {
    let tables = pending.tables.filter { $0.value.rows[ClassMetadata.rowID]?.isDeleted == true }
    let ordered = pending.ordered.filter(\.value.isCleared)
    return try tables.map { (table, _) throws(StoreError) in try files.name(of: table) }
      + ordered.keys.map { (table) throws(StoreError) in try files.ordered.name(of: table).fileName
      }
  }

  /// Returns the names of the files that a save without the log may leave empty.
  func emptied(by changes: ChangeSet) throws(StoreError) -> [String] {
    let tables = changes.tables.filter { table in
      table.records.contains { $0.rowID == ClassMetadata.rowID && $0.kind == .delete }
    }
    return try tables.map { (changes) throws(StoreError) in try files.name(of: changes.table) }
      + changes.ordered.filter(\.clearsFirst).map { (changes) throws(StoreError) in
        try files.ordered.name(of: changes.table).fileName
      }
  }

  /// Removes the empty ones of some files, which a process left behind because it died.
  func removeEmptyStrays(among names: [String], _ manifest: StoreManifest?) {
    guard let manifest else { return }
    let strays = names.filter { !manifest.lists($0) }
    if !strays.isEmpty { files.removeAllEmpty(files.emptyFiles(among: strays)) }
  }
}

extension ClassFiles {
  /// Returns the names of the files, of any kind, that this library has written and that are empty.
  func emptyFiles(among names: [String]) -> [String] {
    if names.isEmpty { return [] }
    return emptyTables(among: names.filter { !OrderedFiles.isFile($0) })
      + ordered.emptyFiles(among: names.filter(OrderedFiles.isFile))
  }

  /// Removes empty files of any kind.
  func removeAllEmpty(_ names: [String]) {
    if names.isEmpty { return }
    removeEmpty(names.filter { !OrderedFiles.isFile($0) })
    ordered.removeEmpty(names.filter(OrderedFiles.isFile))
  }
}

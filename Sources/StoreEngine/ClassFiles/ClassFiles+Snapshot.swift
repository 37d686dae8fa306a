import Synchronization

extension ClassFiles {
  /// Numbers every table that has a file, and opens all files.
  ///
  /// The directory is read only once: later files belong to tables that have numbers.
  ///
  /// Complexity: linear in the number of files; it opens those that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func openAll() throws(StoreError) {
    if !areAllNumbered.load(ordering: .acquiring) {
      for name in try fileTables() where Format.reasonAgainst(name) == nil {
        _ = try tables.number(of: name)
      }
      try ordered.numberAll()
      areAllNumbered.store(true, ordering: .releasing)
    }
    for file in tables.all { _ = try file.file() }
    try ordered.openAll()
  }

  /// Opens all files, and no others until ``reopen()``.
  ///
  /// Complexity: as ``openAll()``.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func hold() throws(StoreError) {
    try openAll()
    tables.holdsFiles = true
    ordered.holdFiles()
  }

  /// Makes the next access to each file open it again.
  ///
  /// Complexity: linear in the number of tables.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  public func reopen() throws(StoreError) {
    try tables.reopen()
    ordered.reopen()
    areAllNumbered.store(false, ordering: .releasing)
  }

  /// Returns the present files, which are never replaced.
  ///
  /// Complexity: linear in the number of tables; it opens the files that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func frozen() throws(StoreError) -> ClassFiles {
    ClassFiles(frozen: self, try tables.frozen(directory), try ordered.frozen())
  }
}

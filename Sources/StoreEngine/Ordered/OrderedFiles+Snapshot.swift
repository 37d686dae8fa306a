import Locks

extension OrderedFiles {
  /// Numbers every table that has a file.
  func numberAll() throws(StoreError) {
    for name in try names() { _ = try table(name) }
  }

  /// Opens the files of all numbered tables.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func openAll() throws(StoreError) {
    for index in 0..<tableCount { _ = try file(of: OrderedTableID(index: index)) }
  }

  /// Treats tables without a number as having no file, until ``reopen()``.
  func holdFiles() { state.withLock { $0.holdsFiles = true } }

  /// Makes the next access to each file open it again; any of them may be missing.
  func reopen() {
    state.withLock { state in
      state.holdsFiles = false
      for index in state.tables.indices {
        state.tables[index].fileName = state.tables[index].name.fileName
        state.tables[index].earlierSegments = state.tables[index].file.opened?.segments
        state.tables[index].file = .unknown
        state.tables[index].isNeeded = false
        state.tables[index].generation += 1
      }
    }
  }
}

import Locks

extension OrderedFiles {
  /// Gives a number to every table that has a file.
  func numberAll() throws(StoreError) {
    for name in try names() { _ = try table(name) }
  }

  /// Opens the files of all tables that have numbers.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  func openAll() throws(StoreError) {
    for index in 0..<tableCount { _ = try file(of: OrderedTableID(index: index)) }
  }

  /// Has tables that have no number yet have no file until ``reopen()``.
  func holdFiles() { state.withLock { $0.holdsFiles = true } }

  /// Opens all files again when they are next needed; nobody knows which of them there are.
  func reopen() {
    state.withLock { state in
      state.holdsFiles = false
      for index in state.tables.indices {
        state.tables[index].fileName = state.tables[index].name.fileName
        state.tables[index].file = .unknown
        state.tables[index].isNeeded = false
        state.tables[index].generation += 1
      }
    }
  }
}

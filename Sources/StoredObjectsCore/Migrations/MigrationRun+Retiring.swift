import Files
import StoreEngine

extension MigrationRun {
  /// Removes a class in one commit.
  ///
  /// Deletions have no bytes, so a commit of a million rows takes 20 MB.
  func retire(_ className: String, in step: String) throws {
    let backend = store.backend
    if let entry = store.classes.first(where: { $0.name == className }) {
      throw StoreError(
        .invalidArgument, "The class is registered, and can't be retired: don't register it.",
        at: entry.location())
    }
    let table = try backend.table(named: className)
    guard let metadata = try backend.classMetadata(of: className) else { return finish(step) }
    var changes = ChangeSet()
    changes.tables = [.init(table: table, records: try removals(of: table))]
    changes.setBuffer(named: LayoutFormat.bufferName(of: className), nil)
    for index in try backend.indexNames(of: className) {
      changes.clear(try backend.orderedTable(index))
    }
    state.retired[metadata.classID] = className
    finish(step)
    try commit(changes)
    backend.coordinator.table(table).forget()
  }

  private func removals(of table: TableID) throws -> [ChangeSet.RecordChange] {
    var removals: [ChangeSet.RecordChange] = []
    _ = try store.backend.scan(table, from: nil) { rowID, _ in
      removals.append(.init(kind: .delete, rowID: rowID, range: 0..<0))
      return .next
    }
    return removals
  }
}

extension StoreBackend {
  /// Returns the names of all indexes of a class, even if other programs declared them.
  func indexNames(of className: String) throws -> [OrderedTableName] {
    let prefix = Store.indexPrefix(className)
    return try orderedTableNames().filter { name in
      guard name.kind == .index else { return false }
      return name.name.utf8.starts(with: prefix.utf8)
        || ExactName(name.name) == ExactName(className + IndexNames.fullText)
    }
  }
}

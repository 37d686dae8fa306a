import Locks
package import Synchronization

/// The changes that other stores on the backend have committed since one store last asked.
package final class ChangeInbox: Sendable {
  private let news = Locked(ForeignNews())

  /// Whether ``take()`` would return anything.
  package let isFilled = Atomic(false)

  /// Creates an empty inbox.
  package init() {}

  /// Adds a commit of another store.
  func receive(_ changes: ChangeSet) {
    news.withLock { news in
      news.add(changes)
      isFilled.store(!news.isEmpty, ordering: .releasing)
    }
  }

  /// Records that others have changed something, without knowing what.
  func receiveEverything() {
    news.withLock { news in
      news.isIncomplete = true
      isFilled.store(true, ordering: .releasing)
    }
  }

  /// Returns the news since the last call.
  package func take() -> ForeignNews {
    guard isFilled.load(ordering: .acquiring) else { return ForeignNews() }
    return news.withLock { news in
      defer { news = ForeignNews() }
      isFilled.store(false, ordering: .releasing)
      return news
    }
  }
}

/// The rows and names that other stores have saved.
///
/// The tables are an array: with a dictionary, a process that opens a store and never meets another
/// one would spend a quarter of that time on the dictionary's metadata.
package struct ForeignNews: Sendable {
  /// Creates news without changes.
  package init() {}

  package struct Table: Sendable {
    package let table: TableID
    /// The rows that were updated or deleted.
    package var changed = RowSet()
    /// The rows that were inserted or updated last.
    package var written = RowSet()
    /// The rows that were deleted last.
    package var deleted = RowSet()

    /// Adds the changes of records; the metadata row is skipped.
    fileprivate mutating func add(_ records: [ChangeSet.RecordChange]) {
      var hasDeleted = !deleted.isEmpty
      for change in records where change.rowID > ClassMetadata.rowID {
        if change.kind != .insert { changed.insert(change.rowID) }
        if change.kind == .delete {
          hasDeleted = true
          deleted.insert(change.rowID)
          written.remove(change.rowID)
        } else {
          written.insert(change.rowID)
          if hasDeleted { deleted.remove(change.rowID) }
        }
      }
    }

    /// Creates the news of a table without changes.
    package init(table: TableID) { self.table = table }
  }

  package private(set) var tables: [Table] = []
  /// The named buffers that were set or removed; nil for none.
  package private(set) var names: Set<ExactName>?
  /// Whether anything else may have changed, too.
  package fileprivate(set) var isIncomplete = false

  var isEmpty: Bool { tables.isEmpty && names == nil && !isIncomplete }

  /// Adds a commit.
  package mutating func add(_ changes: ChangeSet) {
    for table in changes.tables { add(table) }
    add(names: changes.names)
  }

  /// Adds later news.
  mutating func add(_ later: ForeignNews) {
    for table in later.tables {
      let index = tables.firstIndex { $0.table == table.table } ?? tables.endIndex
      if index == tables.endIndex {
        tables.append(table)
        continue
      }
      tables[index].changed.formUnion(table.changed)
      tables[index].written.subtract(table.deleted)
      tables[index].written.formUnion(table.written)
      tables[index].deleted.subtract(table.written)
      tables[index].deleted.formUnion(table.deleted)
    }
    if let names = later.names { self.names = (self.names ?? []).union(names) }
    if later.isIncomplete { isIncomplete = true }
  }

  /// Adds the changes of a table; the metadata row is skipped.
  mutating func add(_ changes: ChangeSet.TableChanges) {
    guard changes.records.contains(where: { $0.rowID > ClassMetadata.rowID }) else { return }
    let index = tables.firstIndex { $0.table == changes.table } ?? tables.endIndex
    if index == tables.endIndex { tables.append(Table(table: changes.table)) }
    tables[index].add(changes.records)
  }

  mutating func add(names changes: [ChangeSet.NameChange]) {
    if names == nil, !changes.isEmpty { names = Set(minimumCapacity: changes.count) }
    for change in changes { names?.insert(ExactName(change.name)) }
  }
}

import Locks
import Synchronization

extension StoreCoordinator {
  /// Continues after the last commit that a backend finds when it is opened, or that a copy
  /// continues after; nil if there is none.
  public func begin(after last: Commit?) { journal.begin(after: last) }

  /// Notifies all stores except the sender of a commit that has been written and that every reader
  /// sees.
  package func didCommit(_ commit: Commit, _ changes: ChangeSet, _ request: CommitRequest) {
    if request.replication != nil { learnMetadata(in: changes) }
    tellStores(of: changes, request)
    // The number becomes visible after the news: a reader that sees the number must find the news.
    journal.append(commit, changes)
    request.follower?.didCommit()
  }

  /// Records a metadata row that others have written; an empty one was removed.
  package func learn(_ row: [UInt8], of table: TableID) {
    let shared = self.table(table)
    guard let metadata = ClassMetadata(row: row) else { return shared.forget() }
    shared.setMetadata(metadata)
  }

  /// Records the metadata rows that others have written.
  package func learnMetadata(in changes: ChangeSet) {
    for table in changes.tables {
      for record in table.records where record.rowID == ClassMetadata.rowID {
        let isGone = record.kind == .delete
        learn(isGone ? [] : Array(changes.bytes[record.range]), of: table.table)
      }
    }
  }

  /// Records that others have committed up to a number, without knowing what.
  ///
  /// - Parameters:
  ///   - last: The last commit.
  ///   - metadata: Reads the metadata row of a table; nil if it has none.
  /// - Throws: An error of the closure; in that case no store has been notified.
  package func loseTrack(
    upTo last: Commit, metadata: (TableID) throws(StoreError) -> ClassMetadata?
  ) throws(StoreError) {
    for table in knownTables {
      if let metadata = try metadata(table.id) { table.setMetadata(metadata) }
    }
    let (inboxes, listeners) = shared.withLock { shared in
      for table in shared.tables { table.countCommit() }
      orderedNews.add(1, ordering: .acquiringAndReleasing)
      return (shared.inboxes, shared.listeners)
    }
    for inbox in inboxes { inbox.receiveEverything() }
    for listener in listeners { listener.didLoseTrack() }
    journal.begin(after: last)
  }

  /// The number of attached listeners.
  package var listenerCount: Int { shared.withLock { $0.listeners.count } }

  /// The tables with shared state.
  package var knownTables: [SharedTable] { shared.withLock { $0.tables } }

  private func tellStores(of changes: ChangeSet, _ request: CommitRequest) {
    let sender = request.sender
    let (others, listeners) = shared.withLock { shared in
      for table in changes.tables where !table.records.isEmpty {
        shared.table(table.table)?.countCommit()
      }
      for table in changes.ordered where shared.note(table.table) {
        orderedNews.add(1, ordering: .acquiringAndReleasing)
      }
      let isAlone = shared.inboxes.count == 1 && shared.inboxes[0] === sender
      return (isAlone ? [] : shared.inboxes, shared.listeners)
    }
    for inbox in others where inbox !== sender { inbox.receive(changes) }
    for listener in listeners where !listener.isForForeign || request.isForeign {
      listener.didCommit(changes)
    }
  }
}

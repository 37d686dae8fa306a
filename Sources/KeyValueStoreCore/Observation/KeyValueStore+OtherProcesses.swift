import Files
import StoreEngine

extension KeyValueStore {
  /// Reports the writes of other processes to observers, while there are any.
  func observeOtherProcesses() {
    let listener = CommitListener(ofOtherProcesses: true) { [weak self] changes in
      self?.publishForeign(changes)
    }
    observers.observeWatching { [coordinator = backend.coordinator] isWatched in
      if isWatched { coordinator.attach(listener) } else { coordinator.detach(listener) }
    }
  }

  /// Publishes the changes of tables and keys in a commit of another process, or of a sync.
  ///
  /// An expired item that was removed there is reported as deleted.
  func publishForeign(_ changes: ChangeSet) {
    for table in changes.ordered where table.table == list { publishTables(table, changes) }
    for table in changes.ordered where table.table != list {
      guard let state = state(ofItems: table.table) else { continue }
      var published: [KeyValueChange] = []
      if table.clearsFirst { published.append(KeyValueChange(.cleared, state.name, nil)) }
      for change in table.changes {
        let key = String(decoding: changes.bytes[change.key], as: UTF8.self)
        published.append(KeyValueChange(change.isRemoval ? .deleted : .put, state.name, key))
      }
      observers.publish(published, of: state)
    }
  }

  /// Publishes the tables that were created and dropped.
  private func publishTables(_ table: ChangeSet.OrderedTableChanges, _ changes: ChangeSet) {
    for change in table.changes {
      let name = String(decoding: changes.bytes[change.key], as: UTF8.self)
      guard change.isRemoval, let state = knownState(of: name) else { continue }
      observers.publish([KeyValueChange(.dropped, name, nil)], of: state)
      observers.finish(state)
    }
    for change in table.changes where !change.isRemoval {
      let name = String(decoding: changes.bytes[change.key], as: UTF8.self)
      let number = changes.bytes.lend(change.value) { Catalogue.number($0, name) }
      guard let number, let state = learn(name, number) else { continue }
      observers.publish([KeyValueChange(.created, name, nil)], of: state)
    }
  }
}

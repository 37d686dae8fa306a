import StoreEngine

extension StoreContainer {
  /// Returns the changes of all saves from now on, by any store on the backend.
  ///
  ///     for await changes in try container.committedChanges() {
  ///       for rowID in changes[Song.self].updated { print("changed: \(rowID)") }
  ///       // Read them, and update the views.
  ///     }
  ///
  /// The changes include saves of other processes, if the backend shares its store: see *Sharing a
  /// Store Between Processes* in ``/StoreEngine``.
  ///
  /// The sequence is for one listener, on any task. It misses no save: changes that have not been
  /// consumed are kept in memory. It ends with the loop or the task.
  ///
  /// Complexity: each save makes a list of its rows for each listener.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `closed`.
  public func committedChanges() throws(StoreError) -> CommittedChanges {
    var tables: [(table: TableID, type: StoredObject.Type)] = []
    for type in classes { tables.append((try backend.table(named: type.storedName), type)) }
    let (stream, continuation) = AsyncStream.makeStream(of: StoreChanges.self)
    let listener = CommitListener(
      { [tables] changes in
        let published = StoreChanges(changes, tables)
        if !published.isEmpty { continuation.yield(published) }
      }, didLoseTrack: { continuation.yield(.unknown) })
    let coordinator = backend.coordinator
    coordinator.attach(listener)
    continuation.onTermination = { _ in coordinator.detach(listener) }
    return CommittedChanges(stream)
  }
}

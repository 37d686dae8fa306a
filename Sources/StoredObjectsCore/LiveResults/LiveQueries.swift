import StoreEngine

/// The live queries of a store, which receives changes for all of them.
///
/// It exists only while there are any: see ``RegisteredClass/liveQueries``.
final class LiveQueries {
  private struct Entry {
    let id: ObjectIdentifier
    unowned let query: LiveQuery
  }

  private var entries: [Entry] = []
  /// Rows that other stores have saved since the last merge, by class ID.
  private var news: [UInt8: RowSet] = [:]
  /// Whether anything may have changed since the watched queries were updated.
  private var hasChanges = false
  /// The objects read since recording began; nil while reads are not recorded.
  private var reads: Set<ObjectKey>?
  /// The error of an object that could not be read since then.
  private var readFailure: StoreError?

  var isEmpty: Bool { entries.isEmpty }
  /// Whether any query may read objects of other classes.
  var mayReachOthers: Bool { entries.contains { $0.query.source.mayReachOthers } }

  func add(_ query: LiveQuery) {
    entries.append(Entry(id: ObjectIdentifier(query), query: query))
  }

  func remove(_ id: ObjectIdentifier) { entries.removeAll { $0.id == id } }

  /// Whether changes of a class may affect any query.
  func follows(_ entry: RegisteredClass) -> Bool {
    entries.contains { $0.query.source.follows(entry.classID) }
  }

  /// Has queries that include subclasses run again after a class was registered.
  func didRegister(_ entry: RegisteredClass) {
    for query in entries.map(\.query)
    where query.source.includesSubclasses && entry.isKind(of: query.source.type) {
      query.reloadLater()
      hasChanges = true
    }
  }

  /// Has all queries run again, because any stored object may have changed.
  func reloadLater() {
    for entry in entries { entry.query.reloadLater() }
    hasChanges = true
  }
}

// MARK: - Changes

extension LiveQueries {
  /// Notes an object that was changed, inserted or deleted.
  func note(_ object: StoredObject) {
    guard let key = object.key, key.rowID > 0 else { return }
    note(key)
  }

  private func note(_ key: ObjectKey) {
    hasChanges = true
    for entry in entries { entry.query.note(key) }
  }

  /// Notes an object that is about to be edited.
  ///
  /// If ``StoredObject/didModify(_:)`` follows, observers are notified then.
  func willEdit(_ object: StoredObject, isFollowed: Bool) {
    note(object)
    // Its properties must not be read before that.
    if isFollowed { return object.state.formUnion(.beingModified) }
    for query in watched { query.reportPossibleChange() }
  }

  /// Lets watched queries report whether they have changed.
  func report() {
    guard hasChanges else { return }
    hasChanges = false
    for query in watched { query.reportDifference() }
  }

  /// Updates all queries when a save begins.
  ///
  /// The edited objects are in memory now, and need not be read again.
  func updateAll() {
    hasChanges = false
    for query in entries.map(\.query) {
      query.update()
      query.reevaluateUnsavedChanges()
    }
  }

  private var watched: [LiveQuery] { entries.map(\.query).filter(\.isWatched) }

  /// Notes rows that another store has saved.
  func note(_ table: ForeignNews.Table, _ entry: RegisteredClass) {
    var rows = news[entry.classID] ?? RowSet()
    rows.formUnion(table.changed)
    rows.formUnion(table.written)
    rows.formUnion(table.deleted)
    news[entry.classID] = rows
  }

  /// Adds the rows that other stores have saved, because the store merges them.
  func merge() {
    for (classID, rows) in news {
      rows.forEach { note(ObjectKey(classID: classID, rowID: $0)) }
    }
    news = [:]
  }
}

// MARK: - Reading

extension LiveQueries {
  /// Records that an object is read.
  @inline(__always)
  func didRead(_ object: StoredObject) {
    guard reads != nil, let key = object.key else { return }
    reads?.insert(key)
    // If the object was not followed before, its last edit was not reported; the next one must be.
    object.state.remove(.editable)
  }

  /// Records that a getter could not read a record, during an evaluation.
  ///
  /// - Returns: Whether an evaluation is under way; the failure then does not affect saves.
  func takes(_ failure: FetchFailure) -> Bool {
    guard reads != nil else { return false }
    readFailure = failure.error
    return true
  }

  /// Returns the result of a closure, with the objects that it has read.
  func recordingReads<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Reading<Result> {
    let outer = (reads, readFailure)
    (reads, readFailure) = ([], nil)
    defer { (reads, readFailure) = outer }
    let result = try body()
    return Reading(result: result, reads: reads ?? [], failure: readFailure)
  }

  /// The result of an evaluation, with the objects that it has read.
  struct Reading<Result> {
    let result: Result
    let reads: Set<ObjectKey>
    /// The error of an object that it needed and that could not be read.
    let failure: StoreError?
  }
}

// MARK: - The store

extension Store {
  /// Adds a live query.
  func add(_ query: LiveQuery) {
    let live = liveQueries ?? LiveQueries()
    liveQueries = live
    live.add(query)
    settleRelationships()
    followLiveQueries()
    // Objects edited before must report their next edit again.
    for entry in classes where entry.liveQueries != nil {
      for object in entry.pending { object.state.remove(.editable) }
    }
  }

  /// Removes a live query.
  func removeLiveQuery(_ id: ObjectIdentifier) {
    liveQueries?.remove(id)
    if liveQueries?.isEmpty == true { liveQueries = nil }
    followLiveQueries()
  }

  /// Makes classes report changes to their queries, and objects report reads if a query needs them.
  func followLiveQueries() {
    for entry in classes {
      entry.liveQueries = liveQueries?.follows(entry) == true ? liveQueries : nil
    }
    let tellsReads = liveQueries?.mayReachOthers == true
    if tellsReads == tellsReadsToQueries { return }
    tellsReadsToQueries = tellsReads
    setObserved()
  }

  /// Lets watched live queries report changes.
  ///
  /// Postponed during a deletion, or while inverses are updated.
  func updateLiveQueries() {
    guard let liveQueries, deletions.depth == 0, canUpdateLiveQueries else { return }
    if relationships?.isSettling != true { liveQueries.report() }
  }

  /// Whether objects can be read and evaluated now.
  var canUpdateLiveQueries: Bool {
    !isRestoring && !isEncoding && relationships?.isModifying != true
  }
}

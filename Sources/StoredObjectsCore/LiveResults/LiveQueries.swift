import StoreEngine

/// The live queries of a store, which hears of changes for all of them.
///
/// It is there only as long as there are any: see ``RegisteredClass/liveQueries``.
final class LiveQueries {
  private struct Entry {
    let id: ObjectIdentifier
    unowned let query: LiveQuery
  }

  private var entries: [Entry] = []
  /// Rows that other stores have saved since the last merge, by class ID.
  private var news: [UInt8: RowSet] = [:]
  /// Whether anything may have changed since the queries that are watched were brought up to date.
  private var hasChanges = false
  /// The objects that have been read since recording began; nil while nobody records.
  private var reads: Set<ObjectKey>?
  /// Why an object could not be read since then.
  private var readFailure: StoreError?

  var isEmpty: Bool { entries.isEmpty }
  /// Whether any query may read objects of other classes.
  var mayReachOthers: Bool { entries.contains { $0.query.source.mayReachOthers } }

  func add(_ query: LiveQuery) {
    entries.append(Entry(id: ObjectIdentifier(query), query: query))
  }

  func remove(_ id: ObjectIdentifier) { entries.removeAll { $0.id == id } }

  /// Whether any query wants to hear of a class.
  func follows(_ entry: RegisteredClass) -> Bool {
    entries.contains { $0.query.source.follows(entry.classID) }
  }

  /// A class is registered.
  func didRegister(_ entry: RegisteredClass) {
    for query in entries.map(\.query)
    where query.source.includesSubclasses && entry.isKind(of: query.source.type) {
      query.reloadLater()
      hasChanges = true
    }
  }

  /// Whatever is stored may be another.
  func reloadLater() {
    for entry in entries { entry.query.reloadLater() }
    hasChanges = true
  }
}

// MARK: - Changes

extension LiveQueries {
  /// An object has changed, or comes or goes.
  func note(_ object: StoredObject) {
    guard let key = object.key, key.rowID > 0 else { return }
    note(key)
  }

  private func note(_ key: ObjectKey) {
    hasChanges = true
    for entry in entries { entry.query.note(key) }
  }

  /// An object is about to be edited.
  ///
  /// If that is followed by ``StoredObject/didModify(_:)``, observers hear of it then.
  func willEdit(_ object: StoredObject, isFollowed: Bool) {
    note(object)
    // Its properties may not be read before.
    if isFollowed { return object.state.formUnion(.beingModified) }
    for query in watched { query.reportPossibleChange() }
  }

  /// Lets queries that are being watched tell whether they have changed.
  func report() {
    guard hasChanges else { return }
    hasChanges = false
    for query in watched { query.reportDifference() }
  }

  /// Brings all queries up to date, because a save begins.
  ///
  /// What has been edited is in memory now, and need not be read for it.
  func updateAll() {
    hasChanges = false
    for query in entries.map(\.query) {
      query.update()
      query.reevaluateUnsavedChanges()
    }
  }

  private var watched: [LiveQuery] { entries.map(\.query).filter(\.isWatched) }

  /// Another store has saved rows.
  func note(_ table: ForeignNews.Table, _ entry: RegisteredClass) {
    var rows = news[entry.classID] ?? RowSet()
    rows.formUnion(table.changed)
    rows.formUnion(table.written)
    rows.formUnion(table.deleted)
    news[entry.classID] = rows
  }

  /// The store follows what others have saved.
  func merge() {
    for (classID, rows) in news {
      rows.forEach { note(ObjectKey(classID: classID, rowID: $0)) }
    }
    news = [:]
  }
}

// MARK: - Reading

extension LiveQueries {
  /// An object is read.
  @inline(__always)
  func didRead(_ object: StoredObject) {
    guard reads != nil, let key = object.key else { return }
    reads?.insert(key)
    // Nobody may have followed it when it was edited last; the next edit is to be told.
    object.state.remove(.editable)
  }

  /// A record can't be read that a getter needs.
  ///
  /// - Returns: Whether that is the business of an evaluation, and of nothing that is saved.
  func takes(_ failure: FetchFailure) -> Bool {
    guard reads != nil else { return false }
    readFailure = failure.error
    return true
  }

  /// Returns the result of a closure, and the objects that it has read.
  func recordingReads<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Reading<Result> {
    let outer = (reads, readFailure)
    (reads, readFailure) = ([], nil)
    defer { (reads, readFailure) = outer }
    let result = try body()
    return Reading(result: result, reads: reads ?? [], failure: readFailure)
  }

  /// The result of an evaluation, and what that has read.
  struct Reading<Result> {
    let result: Result
    let reads: Set<ObjectKey>
    /// Why an object that it needed could not be read.
    let failure: StoreError?
  }
}

// MARK: - The store

extension Store {
  /// A query lives from now on.
  func add(_ query: LiveQuery) {
    let live = liveQueries ?? LiveQueries()
    liveQueries = live
    live.add(query)
    settleRelationships()
    followLiveQueries()
    // What has been edited before is to tell of the next edit again.
    for entry in classes where entry.liveQueries != nil {
      for object in entry.pending { object.state.remove(.editable) }
    }
  }

  /// A query goes away.
  func removeLiveQuery(_ id: ObjectIdentifier) {
    liveQueries?.remove(id)
    if liveQueries?.isEmpty == true { liveQueries = nil }
    followLiveQueries()
  }

  /// Lets those classes tell of changes that a query is about, and of reading where that matters.
  func followLiveQueries() {
    for entry in classes {
      entry.liveQueries = liveQueries?.follows(entry) == true ? liveQueries : nil
    }
    let tellsReads = liveQueries?.mayReachOthers == true
    if tellsReads == tellsReadsToQueries { return }
    tellsReadsToQueries = tellsReads
    setObserved()
  }

  /// Lets live queries that are being watched follow the changes.
  ///
  /// Not in the middle of a deletion, or while inverses are brought up to date.
  func updateLiveQueries() {
    guard let liveQueries, deletions.depth == 0, canUpdateLiveQueries else { return }
    if relationships?.isSettling != true { liveQueries.report() }
  }

  /// Whether objects may be read and evaluated now.
  var canUpdateLiveQueries: Bool {
    !isRestoring && !isEncoding && relationships?.isModifying != true
  }
}

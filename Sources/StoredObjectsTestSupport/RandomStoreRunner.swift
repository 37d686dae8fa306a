import StoredObjectsCore

/// A run of a ``RandomStoreTest``: a store, and its expected content in memory and on disk.
final class RandomStoreRunner {
  private let location: any BackendLocation
  private(set) var backend: FailingBackend
  private(set) var store: Store
  var random: SeededNumbers
  var current = ModelValues()
  var saved = ModelValues()
  /// The rows of the objects by their tags.
  private var rows: [UInt64: UInt32] = [:]
  /// The rows that were ever saved, to check that none is used twice.
  private var usedRows: [String: Set<UInt32>] = [:]
  /// The tags of objects with unsaved changes to a saved record.
  var changed: Set<UInt64> = []
  /// The tags of objects with unsaved changes that a second store has changed since.
  var conflicts: Set<UInt64> = []
  /// The names with unsaved changes that a second store has saved since.
  var nameConflicts: Set<String> = []
  /// The names with unsaved changes.
  var changedNames: Set<String> = []
  /// The titles that a second store has saved in order; this store may have read any of them.
  var unmerged: [UInt64: [String]] = [:]
  /// The objects that the application holds, so that some are faults, some loaded, some freed.
  private var held: [StoredObject] = []
  private var nextTag: UInt64 = 1
  private var failureIsDue = false

  init(_ location: any BackendLocation, seed: UInt64) throws {
    self.location = location
    random = SeededNumbers(seed)
    backend = FailingBackend(try location.open())
    store = try Self.openStore(backend)
  }

  static func openStore(_ backend: FailingBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(ModelTrack.self, ModelList.self)
    return store
  }

  /// Performs one operation, and returns its name.
  func step() throws -> String {
    let operations: [(Int, String, () throws -> Void)] = [
      (20, "insertTrack", insertTrack), (8, "insertList", insertList),
      (15, "editTrack", editTrack), (20, "editList", editList), (8, "deleteTrack", deleteTrack),
      (3, "deleteList", deleteList), (2, "undelete", deleteAndInsert), (8, "setName", setName),
      (8, "save", save), (3, "failingSave", failingSave), (2, "discard", discard),
      (1, "reopen", reopen), (2, "enumerate", enumerateAndEdit), (4, "secondStore", secondStore),
      (3, "hold", hold), (2, "dissolve", { self.store.dissolveAllRelationships() }),
      (5, "compare", { try self.expectCurrent("unsaved") }),
    ]
    var choice = Int.random(in: 0..<operations.reduce(0) { $0 + $1.0 }, using: &random)
    for (weight, name, operation) in operations {
      if choice < weight {
        try operation()
        return name
      }
      choice -= weight
    }
    return "nothing"
  }

  func finish() throws {
    try save()
    try reopen()
    store.dissolveAllRelationships()
    try backend.close()
  }
}

// MARK: - Finding and entering objects

extension RandomStoreRunner {
  func newTag() -> UInt64 {
    defer { nextTag += 1 }
    return nextTag
  }

  func track(_ tag: UInt64, in store: Store) throws -> ModelTrack {
    let object = try store.object(ModelTrack.self, rowID: rows[tag] ?? 0)
    guard let object, object.tag == tag else {
      throw ConformanceFailure("track \(tag), row \(rows[tag] ?? 0) is \(object?.tag ?? 0)")
    }
    if store === self.store { observe(object) }
    return object
  }

  /// Determines whether a track is as a second store has saved it.
  func observe(_ track: ModelTrack) {
    let title = track.title
    guard let titles = unmerged[track.tag], let index = titles.lastIndex(of: title) else { return }
    current.tracks[track.tag] = title
    let later = Array(titles[(index + 1)...])
    unmerged[track.tag] = later.isEmpty ? nil : later
  }

  /// Records a change of a track that was read, which is a conflict if the track is outdated.
  func noteChange(ofTrack tag: UInt64) {
    changed.insert(tag)
    if unmerged.removeValue(forKey: tag) != nil { conflicts.insert(tag) }
  }

  /// Records that the store has reloaded everything that others have saved.
  func didMerge() {
    current.tracks.merge(newestTitles) { _, new in new }
    unmerged = [:]
  }

  private var newestTitles: [UInt64: String] { unmerged.compactMapValues(\.last) }

  func expectCurrent(_ when: String) throws {
    try current.expect(in: store, when, orNewTitles: unmerged)
  }

  var hasConflicts: Bool { !conflicts.isEmpty || !nameConflicts.isEmpty }

  private func forgetChanges() {
    (changed, conflicts) = ([], [])
    (changedNames, nameConflicts) = ([], [])
  }

  func list(_ tag: UInt64, in store: Store) throws -> ModelList {
    let object = try store.object(ModelList.self, rowID: rows[tag] ?? 0)
    guard let object, object.tag == tag else {
      throw ConformanceFailure("list \(tag), row \(rows[tag] ?? 0) is \(object?.tag ?? 0)")
    }
    return object
  }

  /// Records the row of an inserted object, which must be a new one.
  func enter(_ object: StoredObject, _ tag: UInt64) throws {
    let name = type(of: object).storedName
    try expect(
      usedRows[name, default: []].insert(object.rowID).inserted,
      "row \(object.rowID) of \(name) is given out twice")
    rows[tag] = object.rowID
  }

  func anyTrack() -> UInt64? { current.tracks.keys.sorted().randomElement(using: &random) }
  func anyList() -> UInt64? { current.lists.keys.sorted().randomElement(using: &random) }

  func text() -> String { "text \(Int.random(in: 0..<1_000_000, using: &random)) é👍\0" }
  func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private func hold() throws {
    if chance(30) { held = [] }
    if let tag = anyTrack() { held.append(try track(tag, in: store)) }
    if let tag = anyList() {
      let list = try list(tag, in: store)
      held.append(list)
      held += list.items.suffix(2)
    }
  }
}

// MARK: - Saving

extension RandomStoreRunner {
  func save() throws {
    if hasConflicts {
      try expectError(.conflict, "a save after another store's") { try store.saveChanges() }
      try expect(store.hasUnsavedChanges, "a conflict has dropped changes")
      try saved.expect(in: try Self.openStore(backend), "after a conflict, on disk")
      guard chance(50) else { return try discard() }
      store.keepConflictingChanges()
      didMerge()
    }
    try store.saveChanges()
    saved = current
    saved.tracks.merge(newestTitles) { _, new in new }
    forgetChanges()
    try expect(!store.hasUnsavedChanges, "changes are left after a save")
    try expectCurrent("after a save")
    try saved.expect(in: try Self.openStore(backend), "after a save, on disk")
  }

  private func failingSave() throws {
    guard store.hasUnsavedChanges, !hasConflicts else { return }
    backend.failCommits()
    try expectError(.ioError, "a save that fails") { try store.saveChanges() }
    try expect(store.hasUnsavedChanges, "a save that failed has dropped changes")
    try expectCurrent("after a failed save")
    try saved.expect(in: try Self.openStore(backend), "after a failed save, on disk")
  }

  private func discard() throws {
    store.discardChanges()
    current = saved
    unmerged = [:]
    forgetChanges()
    try expect(!store.hasUnsavedChanges, "changes are left after a discard")
    try current.expect(in: store, "after a discard")
  }

  private func reopen() throws {
    held = []
    try backend.close()
    backend = FailingBackend(try location.open())
    store = try Self.openStore(backend)
    current = saved
    unmerged = [:]
    forgetChanges()
    try current.expect(in: store, "after opening again")
    // Rows that were never saved may be used again, those on disk never.
    usedRows = [
      "ModelTrack": Set(current.tracks.keys.compactMap { rows[$0] }),
      "ModelList": Set(current.lists.keys.compactMap { rows[$0] }),
    ]
  }
}

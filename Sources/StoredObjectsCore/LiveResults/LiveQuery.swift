import Logging
import Observation
import StoreEngine

/// A query whose answer is kept up to date; subclasses say what the answer is.
///
/// Changes are collected, and evaluated when the answer is needed: see ``update()``.
class LiveQuery: Observable {
  let source: LiveSource
  var store: Store { source.store }

  /// Rows that may have changed, and those that others depend on.
  private var changed: Set<ObjectKey> = []
  /// The rows whose evaluation has read a row.
  ///
  /// Some may read it no more: that is found out when it changes.
  private var dependents: [ObjectKey: Set<ObjectKey>] = [:]
  private var needsReload = false
  private var isUpdating = false
  /// Whether rows are evaluated that may be as they were.
  private(set) var isReloading = false
  /// Whether anybody has asked for the answer since it was reported that it has changed.
  private(set) var isWatched = false
  /// Why a row was left out, or evaluated with the defaults of an object.
  var failure: StoreError?

  private let registrar = ObservationRegistrar()
  private var waiting: [AsyncStream<Void>.Continuation] = []
  /// Whether code that waits has been woken since the answer was brought up to date last.
  private var hasWoken = false

  init(_ source: LiveSource) throws(StoreError) {
    self.source = source
    store.add(self)
  }

  deinit {
    store.removeLiveQuery(ObjectIdentifier(self))
    for continuation in waiting { continuation.finish() }
  }

  // MARK: What subclasses do

  /// Whether changes of a row matter to the answer.
  func follows(_ key: ObjectKey) -> Bool { source.contains(key.classID) }

  /// Whether the answer would be another with a row where it has its place now.
  func differs(_ key: ObjectKey, _ placement: Placement?) -> Bool { placement != nil }

  /// Makes rows a part of the answer where they have a place now, and no part where they have none.
  func apply(_ placements: [ObjectKey: Placement?]) {}

  /// The rows of the answer.
  var rows: [ObjectKey] { [] }

  /// Tells observers if the answer is another; it is brought up to date when it is read.
  ///
  /// So edits that come one after the other are one change.
  func reportDifference() {
    guard isWatched, !isUpdating, store.canUpdateLiveQueries else { return }
    isUpdating = true
    defer { isUpdating = false }
    store.settleRelationships()
    if needsReload || hasDifference() { reportChange {} }
  }

  /// Runs the query.
  func load() throws(StoreError) -> [(ObjectKey, Placement)] {
    var placements: [(ObjectKey, Placement)] = []
    guard source.mayReachOthers else {
      try source.forEachMatch { placements.append(($0, $1)) }
      return placements
    }
    dependents = [:]
    try source.forEachRow { key throws(StoreError) in
      if let placement = try placement(of: key) { placements.append((key, placement)) }
    }
    return placements
  }
}

// MARK: - Changes

extension LiveQuery {
  /// A row may have changed.
  final func note(_ key: ObjectKey) {
    guard follows(key) || source.mayReachOthers && dependents[key] != nil else { return }
    if !hasWoken { wakeWaiting() }
    changed.insert(key)
  }

  /// Runs the query again before the answer is needed.
  final func reloadLater() {
    needsReload = true
    wakeWaiting()
  }

  /// Evaluates unsaved changes again, because a save begins: objects that were in no store when
  /// they were read are in the store now.
  final func reevaluateUnsavedChanges() {
    guard source.mayReachOthers, !isUpdating else { return }
    isReloading = true
    defer { isReloading = false }
    for entry in source.entries {
      for object in entry.changed { note(ObjectKey(classID: entry.classID, rowID: object.rowID)) }
    }
    update()
  }

  /// Brings the answer up to date.
  ///
  /// Does nothing while it is at it already, or while the store can't be asked.
  final func update() {
    hasWoken = false
    guard !isUpdating, store.canUpdateLiveQueries else { return }
    isUpdating = true
    defer { isUpdating = false }
    store.settleRelationships()
    if needsReload {
      do throws(StoreError) { try runAgain() } catch { report(error) }
    }
    guard !changed.isEmpty else { return }
    var placements: [ObjectKey: Placement?] = [:]
    for key in takeChanged() { placements[key] = .some(evaluate(key)) }
    if !placements.isEmpty { apply(placements) }
  }

  /// Evaluates what has changed up to the first difference, which is left to be evaluated again.
  fileprivate func hasDifference() -> Bool {
    var rows = takeChanged()
    while let key = rows.popFirst() {
      guard differs(key, evaluate(key)) else { continue }
      changed.formUnion(rows)
      changed.insert(key)
      return true
    }
    return false
  }

  /// The rows that are to be evaluated.
  private func takeChanged() -> Set<ObjectKey> {
    var rows: Set<ObjectKey> = []
    let taken = changed
    changed = []
    for key in taken {
      if let object = store.registration(classID: key.classID)?.living(key.rowID) {
        if object.state.contains(.beingModified) {
          changed.insert(key)
          continue
        }
        // The next edit is to be told again.
        object.state.remove(.editable)
      }
      if follows(key) { rows.insert(key) }
      if let dependents = dependents.removeValue(forKey: key) { rows.formUnion(dependents) }
    }
    return rows
  }

  private func evaluate(_ key: ObjectKey) -> Placement? {
    do {
      return try placement(of: key)
    } catch {
      report(error)
      return nil
    }
  }

  private func placement(of key: ObjectKey) throws(StoreError) -> Placement? {
    guard source.mayReachOthers, let live = store.liveQueries else {
      return try source.placement(of: key)
    }
    let reading = try live.recordingReads { () throws(StoreError) in
      try source.placement(of: key)
    }
    for read in reading.reads where read != key { dependents[read, default: []].insert(key) }
    if let failure = reading.failure { report(failure) }
    return reading.result
  }

  private func report(_ error: StoreError) {
    defer { failure = error }
    // Told once, however often the object is evaluated.
    if failure != nil { return }
    store.logger.error("Live results could not read an object: \(error)")
  }

  /// Runs the query again, and makes the difference.
  final func reload() throws(StoreError) {
    if isUpdating { return reloadLater() }
    isUpdating = true
    defer { isUpdating = false }
    try runAgain()
  }

  private func runAgain() throws(StoreError) {
    isReloading = true
    defer { isReloading = false }
    needsReload = false
    try source.findClasses()
    store.followLiveQueries()
    let placements = try load()
    failure = nil
    var changes: [ObjectKey: Placement?] = [:]
    for key in rows { changes[key] = .some(nil) }
    for (key, placement) in placements { changes[key] = .some(placement) }
    apply(changes)
  }
}

// MARK: - Observers

extension LiveQuery {
  /// Stands for the answer where registrars ask for a key path.
  fileprivate var answer: Void { () }

  /// The answer is read, perhaps by code that waits for the next change of it.
  final func access() {
    watch()
    registrar.access(self, keyPath: \.answer)
  }

  /// The answer is brought up to date, and the next change of it is to be reported.
  final func watch() {
    update()
    isWatched = true
  }

  /// Code that has not been told of the last change waits for the next one.
  final func keepWatching() { isWatched = true }

  /// Changes the answer, and tells observers.
  final func reportChange(_ change: () -> Void) {
    // What handlers read is what was there before.
    let wasUpdating = isUpdating
    isUpdating = true
    defer { isUpdating = wasUpdating }
    isWatched = false
    registrar.withMutation(of: self, keyPath: \.answer, change)
    wakeWaiting()
  }

  /// Tells observers that the answer may be another when they read it next.
  final func reportPossibleChange() {
    if !changed.isEmpty, !isUpdating { reportChange {} }
  }

  /// Wakes code that waits for changes, once the current job of its actor is done.
  private func wakeWaiting() {
    if waiting.isEmpty { return }
    hasWoken = true
    waiting.removeAll { continuation in
      if case .terminated = continuation.yield() { true } else { false }
    }
  }

  /// Something to wait for changes by, which come as one however many there are.
  final func wakeups() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    waiting.append(continuation)
    return stream
  }
}

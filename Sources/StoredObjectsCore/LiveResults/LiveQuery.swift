import Logging
import Observation
import StoreEngine

/// A query whose result is kept up to date; subclasses define the result.
///
/// Changes are collected, and evaluated when the result is needed: see ``update()``.
class LiveQuery: Observable {
  let source: LiveSource
  var store: Store { source.store }

  /// Rows that may have changed, including rows that others depend on.
  private var changed: Set<ObjectKey> = []
  /// For each row, the rows whose evaluation has read it.
  ///
  /// Some may no longer read it, which is determined when it changes.
  private var dependents: [ObjectKey: Set<ObjectKey>] = [:]
  private var needsReload = false
  private var isUpdating = false
  /// Whether rows are evaluated that may not have changed.
  private(set) var isReloading = false
  /// Whether the result has been read since its last change was reported.
  private(set) var isWatched = false
  /// The error because of which a row was left out, or evaluated with another object's defaults.
  var failure: StoreError?

  private let registrar = ObservationRegistrar()
  private var waiting: [AsyncStream<Void>.Continuation] = []
  /// Whether waiting code has been woken since the result was last updated.
  private var hasWoken = false

  init(_ source: LiveSource) throws(StoreError) {
    self.source = source
    store.add(self)
  }

  deinit {
    store.removeLiveQuery(ObjectIdentifier(self))
    for continuation in waiting { continuation.finish() }
  }

  // MARK: Methods of subclasses

  /// Whether changes of a row may affect the result.
  func follows(_ key: ObjectKey) -> Bool { source.contains(key.classID) }

  /// Whether the result changes if a row gets its current placement, or nil for none.
  func differs(_ key: ObjectKey, _ placement: Placement?) -> Bool { placement != nil }

  /// Updates the result: inserts, moves or keeps rows with a placement, and removes the others.
  func apply(_ placements: [ObjectKey: Placement?]) {}

  /// The rows in the result.
  var rows: [ObjectKey] { [] }

  /// Notifies observers if the result has changed; it is updated when it is read.
  ///
  /// So consecutive edits are one change.
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
  /// Notes a row that may have changed.
  final func note(_ key: ObjectKey) {
    guard follows(key) || source.mayReachOthers && dependents[key] != nil else { return }
    if !hasWoken { wakeWaiting() }
    changed.insert(key)
  }

  /// Marks the query to run again before the result is needed.
  final func reloadLater() {
    needsReload = true
    wakeWaiting()
  }

  /// Evaluates unsaved changes again when a save begins.
  ///
  /// Objects that were in no store when they were read may be in the store now.
  final func reevaluateUnsavedChanges() {
    guard source.mayReachOthers, !isUpdating else { return }
    isReloading = true
    defer { isReloading = false }
    for entry in source.entries {
      for object in entry.changed { note(ObjectKey(classID: entry.classID, rowID: object.rowID)) }
    }
    update()
  }

  /// Updates the result.
  ///
  /// Does nothing during an update, or while the store's objects can't be evaluated.
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

  /// Evaluates changed rows up to the first difference, which will be evaluated again.
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

  /// Removes and returns the rows to evaluate.
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
        // So that the next edit is reported again.
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
    // Reported once, even if the object is evaluated again.
    if failure != nil { return }
    store.logger.error("Live results could not read an object: \(error)")
  }

  /// Runs the query again, and applies the differences.
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
  /// A placeholder for the result if a registrar needs a key path.
  fileprivate var answer: Void { () }

  /// Reports that the result is read, possibly by code that observes its next change.
  final func access() {
    watch()
    registrar.access(self, keyPath: \.answer)
  }

  /// Updates the result, and has its next change reported.
  final func watch() {
    update()
    isWatched = true
  }

  /// Has the next change reported to code that was not notified of the last one.
  final func keepWatching() { isWatched = true }

  /// Changes the result, and notifies observers.
  final func reportChange(_ change: () -> Void) {
    // Handlers that read the result get the old one.
    let wasUpdating = isUpdating
    isUpdating = true
    defer { isUpdating = wasUpdating }
    isWatched = false
    registrar.withMutation(of: self, keyPath: \.answer, change)
    wakeWaiting()
  }

  /// Notifies observers that the result may differ when they read it next.
  final func reportPossibleChange() {
    if !changed.isEmpty, !isUpdating { reportChange {} }
  }

  /// Wakes code that waits for changes, once the current job of its actor has finished.
  private func wakeWaiting() {
    if waiting.isEmpty { return }
    hasWoken = true
    waiting.removeAll { continuation in
      if case .terminated = continuation.yield() { true } else { false }
    }
  }

  /// Returns a stream to wait for changes, which combines them into one element.
  final func wakeups() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    waiting.append(continuation)
    return stream
  }
}

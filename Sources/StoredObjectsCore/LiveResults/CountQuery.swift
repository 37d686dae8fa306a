import Observation
import StoreEngine

/// A live query whose result is the number of matching objects.
final class CountQuery: LiveQuery {
  /// The matching rows, by class ID.
  private var members: [UInt8: RowSet] = [:]
  private(set) var count = 0
  private let registrar = ObservationRegistrar()
  /// Whether waiting code only needs to know whether any object matches.
  private var isEmptyWatched = false

  override init(_ source: LiveSource) throws(StoreError) {
    try super.init(source)
    for (key, _) in try load() where insert(key) { count += 1 }
  }

  override var rows: [ObjectKey] {
    members.flatMap { classID, rows in
      var keys: [ObjectKey] = []
      rows.forEach { keys.append(ObjectKey(classID: classID, rowID: $0)) }
      return keys
    }
  }

  /// Updates the count, because only the whole batch determines whether it differs.
  override func reportDifference() { update() }

  override func apply(_ placements: [ObjectKey: Placement?]) {
    let before = count
    var after = before
    for (key, placement) in placements {
      if placement == nil {
        if remove(key) { after -= 1 }
      } else if insert(key) {
        after += 1
      }
    }
    guard after != before else { return }
    reportChange {
      if (before == 0) == (after == 0) { return count = after }
      isEmptyWatched = false
      registrar.withMutation(of: self, keyPath: \.isEmpty) { count = after }
    }
    if isEmptyWatched { keepWatching() }
  }

  private func insert(_ key: ObjectKey) -> Bool {
    members[key.classID, default: RowSet()].insert(key.rowID)
  }

  private func remove(_ key: ObjectKey) -> Bool {
    guard members[key.classID]?.contains(key.rowID) == true else { return false }
    members[key.classID]?.remove(key.rowID)
    return true
  }

  /// Whether no object matches; for code that does not need the count.
  var isEmpty: Bool {
    watch()
    isEmptyWatched = true
    registrar.access(self, keyPath: \.isEmpty)
    return count == 0
  }
}

import Observation
import StoreEngine

/// A live query whose answer is how many objects are found.
final class CountQuery: LiveQuery {
  /// The rows that are found, by class ID.
  private var members: [UInt8: RowSet] = [:]
  private(set) var count = 0
  private let registrar = ObservationRegistrar()
  /// Whether code waits that wants to know no more than whether anything is found.
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

  /// Only the whole batch says whether the number is another.
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

  /// Whether nothing is found; read by code that does not want to know how much is.
  var isEmpty: Bool {
    watch()
    isEmptyWatched = true
    registrar.access(self, keyPath: \.isEmpty)
    return count == 0
  }
}

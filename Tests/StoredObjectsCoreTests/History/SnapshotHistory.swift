/// A model of undo and redo: the expected contents of a store after each step.
struct SnapshotHistory<Snapshot> {
  /// The contents before each undo step, and after each redo step.
  private(set) var before: [Snapshot] = []
  private var after: [Snapshot] = []
  /// The expected contents.
  private(set) var now: Snapshot
  private var saved: (before: [Snapshot], after: [Snapshot], now: Snapshot)
  /// How many steps can be undone; 0 for all.
  private let limit: Int

  init(_ start: Snapshot, limit: Int = 0) {
    (now, saved, self.limit) = (start, ([], [], start), limit)
  }

  /// A step, which may have been none.
  mutating func step(to new: Snapshot, isUndoable: Bool) {
    if isUndoable {
      before.append(now)
      if limit > 0, before.count > limit { before.removeFirst() }
      after.removeAll()
    }
    now = new
  }

  mutating func undo() {
    guard let last = before.popLast() else { return }
    after.append(now)
    now = last
  }

  mutating func redo() {
    guard let last = after.popLast() else { return }
    before.append(now)
    now = last
  }

  mutating func save() { saved = (before, after, now) }

  mutating func discard() { (before, after, now) = saved }
}

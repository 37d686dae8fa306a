import StoredObjectsCore

/// A random walk that also changes a store by transactions inside of each other, some of which
/// throw.
protocol TransactionWalk {
  associatedtype Contents: Equatable & Sendable
  var store: Store { get }
  var history: StoreUndoManager { get }
  var model: SnapshotHistory<Contents> { get set }
  var nextName: Int { get set }

  /// A random number below another one.
  mutating func chance(_ number: Int) -> Int
  /// Changes something.
  mutating func edit() throws
  /// The contents of the store.
  func contents() throws -> Contents
}

private struct Refusal: Error {}

/// A transaction that has thrown, and left a change behind.
private struct LeftChange<Contents: Sendable>: Error {
  let found, expected: Contents
}

extension TransactionWalk {
  /// Runs a transaction, which is a step of the history and a save if it does not throw.
  mutating func transact() throws {
    let last = history.undoActionNames.first
    nextName += 1
    history.setActionName("step \(nextName)")
    do {
      try store.transaction { try changeInTransaction(depth: 0) }
    } catch is Refusal {
      return
    }
    model.step(to: try contents(), isUndoable: history.undoActionNames.first != last)
    model.save()
  }

  private mutating func changeInTransaction(depth: Int) throws {
    for _ in 0...chance(4) {
      if depth < 3, chance(3) == 0 { try nest(depth) } else { try edit() }
    }
    if chance(3) == 0 { throw Refusal() }
  }

  private mutating func nest(_ depth: Int) throws {
    let before = try contents()
    do {
      try store.transaction { try changeInTransaction(depth: depth + 1) }
    } catch is Refusal {
      let found = try contents()
      if found != before { throw LeftChange(found: found, expected: before) }
    }
  }
}

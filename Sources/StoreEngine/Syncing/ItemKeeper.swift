import Locks

/// The key-value store of this process on a backend.
///
/// It prepares writes before they take their turn, so nobody else changes its items meanwhile.
package protocol ItemKeeper: AnyObject, Sendable {
  /// Runs a closure that commits changes of items, while no write is prepared or on its way.
  ///
  /// The closure sets the change set of its commit, from which observers and the list of tables
  /// are updated.
  ///
  /// - Throws: ``StoreError`` with `forked`, or an error of the closure.
  func whileResting<Result>(
    _ body: (inout ChangeSet?) throws(StoreError) -> Result
  ) throws(StoreError) -> Result
}

/// The key-value store on a backend, if it is open.
struct KeeperSlot: Sendable {
  weak var keeper: (any ItemKeeper)?
}

extension StoreCoordinator {
  /// The slot of the key-value store, which programs without one never allocate.
  private var keeperSlot: SharedLock<KeeperSlot> {
    shared.withLock { shared in
      if let known = shared.keeperSlot { return known }
      let new = SharedLock(KeeperSlot())
      shared.keeperSlot = new
      return new
    }
  }

  /// Registers the key-value store of the backend; waits for a commit of items.
  package func register(_ keeper: any ItemKeeper) {
    keeperSlot.withLock { $0.keeper = keeper }
  }

  /// Runs a closure that commits changes of items for someone else than the key-value store.
  ///
  /// No key-value store is opened meanwhile.
  ///
  /// - Throws: ``StoreError`` with `forked`, or an error of the closure.
  package func whileItemsRest<Result>(
    _ body: (inout ChangeSet?) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // Its last reference may go with this function, and not while the slot is locked.
    var keeper: (any ItemKeeper)?
    defer { withExtendedLifetime(keeper) {} }
    return try keeperSlot.withLock { (slot) throws(StoreError) in
      keeper = slot.keeper
      if let keeper { return try keeper.whileResting(body) }
      var changes: ChangeSet?
      return try body(&changes)
    }
  }
}

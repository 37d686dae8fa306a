import FoundationEssentials
import KeyValueStoreCore
import StoreEngine

/// Finds out what the items of a device become when its pending commits follow those of the server.
struct ItemRebase {
  /// The result.
  struct Plan {
    /// The items and tables that the device's store has to change.
    var states = ItemChanges()
    /// The changes of each pending commit that the server has to get.
    var pending: [ItemChanges]
    /// The same changes as those of one commit.
    var merged: ItemChanges {
      var merged = ItemChanges()
      for changes in pending { merged.add(changes) }
      merged.items = merged.items.filter { $0.value.before != $0.value.after }
      merged.tables = merged.tables.filter { $0.value.before != $0.value.after }
      return merged
    }
  }

  private enum Side { case mine, theirs }

  private var server: ItemChanges
  /// The changes of the pending commits: of all, and of each.
  private var net = ItemChanges()
  private var plan: Plan
  private let decide: (SyncItemConflict) -> SyncItemDecision
  private let now: Date
  /// The number of conflicts that were decided.
  private(set) var conflictCount = 0

  init(
    _ server: ItemChanges, _ pending: [PendingCommit],
    _ decide: @escaping (SyncItemConflict) -> SyncItemDecision, now: Date = .now
  ) {
    (self.server, self.decide, self.now) = (server, decide, now)
    plan = Plan(pending: pending.map(\.items))
    for one in pending { net.add(one.items) }
  }

  /// Leaves out the server's changes of tables that the device keeps for itself.
  mutating func ignoreTables(_ names: Set<[UInt8]>) { server.removeTables(names) }

  /// Returns what the items become.
  ///
  /// - Throws: `StoreError` with `conflict` if nobody decides, or `damaged`.
  mutating func run() throws(StoreError) -> Plan {
    for (place, theirs) in server.items.sorted(by: { $0.key < $1.key }) {
      guard let mine = net.items[place] else {
        plan.states.items[place] = theirs
        continue
      }
      switch try side(of: place, mine, theirs) {
      case .mine: base(place, on: theirs.after)
      case .theirs:
        plan.states.items[place] = .init(before: mine.after, after: theirs.after)
        for index in plan.pending.indices { plan.pending[index].items[place] = nil }
      }
    }
    addTables()
    return plan
  }

  /// Makes the server's item the one before the first pending change.
  private mutating func base(_ place: ItemPlace, on theirs: [UInt8]?) {
    let first = plan.pending.indices.first { plan.pending[$0].items[place] != nil }
    if let first { plan.pending[first].items[place]?.before = theirs }
  }

  // MARK: Items

  private mutating func side(
    of place: ItemPlace, _ mine: ItemChanges.Change, _ theirs: ItemChanges.Change
  ) throws(StoreError) -> Side {
    let base = mine.before
    if ItemBody.isSame(mine.after, base) { return .theirs }
    if ItemBody.isSame(theirs.after, base) { return .mine }
    if ItemBody.isSame(mine.after, theirs.after) { return .theirs }
    // The removal of an item that has expired is nobody's wish.
    if ItemBody.isExpired(base, at: now) {
      if mine.after == nil { return .theirs }
      if theirs.after == nil { return .mine }
    }
    return try decide(place, base, mine.after, theirs.after)
  }

  private mutating func decide(
    _ place: ItemPlace, _ base: [UInt8]?, _ mine: [UInt8]?, _ theirs: [UInt8]?
  ) throws(StoreError) -> Side {
    func item(_ body: [UInt8]?) throws(StoreError) -> KeyValueItem? {
      guard let body else { return nil }
      return try ItemBody.item(body, of: place)
    }
    let conflict = SyncItemConflict(
      table: String(decoding: place.table, as: UTF8.self),
      key: String(decoding: place.key, as: UTF8.self), base: try item(base),
      mine: try item(mine), theirs: try item(theirs))
    switch decide(conflict) {
    case .mine:
      conflictCount += 1
      return .mine
    case .theirs:
      conflictCount += 1
      return .theirs
    case .fail:
      throw StoreError(
        .conflict,
        "This device and another one have changed the item. Decide in SyncConfiguration.decideItem.",
        at: .init(table: conflict.table, key: conflict.key))
    }
  }

  // MARK: Tables

  /// Decides which tables there are: those that either side has made, and those with items.
  private mutating func addTables() {
    for (name, theirs) in server.tables {
      // The server's changes have ended where they began.
      if let mine = net.tables[name], (theirs.after == nil) == (mine.before == nil) { continue }
      if theirs.after != nil {
        plan.states.tables[name] = theirs
        removePending(name)
      } else if let first = plan.pending.firstIndex(where: { $0.needs(name) }) {
        // Nothing is left that an earlier commit could drop.
        for index in 0..<first { plan.pending[index].tables[name] = nil }
        plan.pending[first].tables[name] = .init(before: nil, after: [])
      } else {
        plan.states.tables[name] = theirs
        removePending(name)
      }
    }
    for name in plan.pending.droppedTables where isUsed(name) {
      plan.states.tables[name] = .init(before: nil, after: [])
      removePending(name)
    }
  }

  /// Whether another device has put something into a table that a pending commit drops.
  private func isUsed(_ name: [UInt8]) -> Bool {
    let places = server.items.filter { $0.key.table == name && $0.value.after != nil }.keys
    return plan.pending.indices.contains { index in
      guard let change = plan.pending[index].tables[name], change.after == nil else { return false }
      return places.contains { place in
        let last = plan.pending[...index].last { $0.items[place] != nil }
        return last?.items[place].map { $0.after != nil } ?? true
      }
    }
  }

  private mutating func removePending(_ name: [UInt8]) {
    for index in plan.pending.indices { plan.pending[index].tables[name] = nil }
  }
}

extension [ItemChanges] {
  /// The tables that any of the changes drop, also those that later ones create again.
  fileprivate var droppedTables: Set<[UInt8]> {
    reduce(into: []) { names, changes in
      for (name, change) in changes.tables where change.after == nil { names.insert(name) }
    }
  }
}

extension ItemChanges {
  /// Whether the changes leave a table that must exist.
  fileprivate func needs(_ name: [UInt8]) -> Bool {
    tables[name]?.after != nil
      || items.contains { $0.key.table == name && $0.value.after != nil }
  }
}

import FoundationEssentials
import StoreEngine
import StoredObjectsCore

/// Finds out what a device's store becomes when its pending commits follow those of the server.
///
/// It tries that in a copy of the store in memory, with the stores, checks and merges of every save.
struct SyncRebase {
  /// The result.
  struct Plan {
    /// The records and buffers that the device's store has to change.
    var states: RecordStates
    /// The commits that the server has to get.
    var pending: [PendingCommit]
    /// Whether the pending commits have become one.
    var isMerged = false
  }

  private let server: ServerChanges
  private let pending: [PendingCommit]
  /// The states before and after the pending commits.
  private let base, net: RecordStates
  private let classes: [StoredObject.Type]
  private let decide: (SyncConflict) -> SyncDecision
  /// The number of conflicts that were decided.
  private(set) var conflictCount = 0
  private var decisions = Decisions()

  /// The decisions about rows.
  private struct Decisions {
    /// Rows whose pending changes are dropped.
    var theirs: Set<Row> = []
    /// Rows that stay as they are here, deleted or not.
    var mine: Set<Row> = []
    /// Edits of the objects of this device.
    var edits: [Row: @Sendable (StoredObject) -> Void] = [:]
  }

  private struct Row: Hashable {
    let className: String
    let rowID: UInt32
  }

  init(
    _ server: ServerChanges, _ pending: [PendingCommit], _ classes: [StoredObject.Type],
    _ decide: @escaping (SyncConflict) -> SyncDecision
  ) {
    (self.server, self.pending, self.classes, self.decide) = (server, pending, classes, decide)
    (base, net) = (
      RecordStates(before: pending.lazy.map(\.entry)),
      RecordStates(after: pending.lazy.map(\.entry))
    )
  }

  /// Returns what the store becomes.
  ///
  /// - Parameter scratch: Makes a copy of the store in memory.
  /// - Returns: The changes of the store, and the commits that the server has to get.
  /// - Throws: `StoreError` with `conflict` or `notUnique` if nobody decides.
  mutating func run(
    _ scratch: () throws(StoreError) -> any StoreBackend
  ) throws(StoreError) -> Plan {
    if pending.isEmpty { return Plan(states: server.states, pending: []) }
    // A deleted object may be referred to by the other side.
    let mayReplay =
      !base.differs(from: server.states) && !server.states.hasAbsent
      && !pending.contains(where: \.entry.deletes)
    if mayReplay {
      do throws(StoreError) {
        return try replayed(on: try scratch())
      } catch  where error.code == .notUnique || error.code == .conflict {}
    }
    while true {
      do throws(StoreError) {
        return try merged(on: try scratch())
      } catch {
        guard try decide(error) else { throw error }
        conflictCount += 1
      }
    }
  }

  // MARK: One after the other

  /// Makes each pending commit again after those of the server.
  private func replayed(on backend: any StoreBackend) throws(StoreError) -> Plan {
    let start = backend.lastCommitNumber
    var states = base
    states.add(server.states)
    try save(states, by: try store(on: backend))
    let store = try store(on: backend)
    for one in pending {
      let rest = try store.setRecords(RecordStates(after: [one.entry]))
      try store.saveChanges { (changes, request) throws(StoreError) in
        try store.add(rest, to: &changes)
        request.token = one.token
      }
    }
    return try plan(of: backend, after: start, pending)
  }

  // MARK: Merged

  /// Merges what both sides have changed since the server's last known commit.
  private mutating func merged(on backend: any StoreBackend) throws(StoreError) -> Plan {
    let start = backend.lastCommitNumber
    let theirs = try store(on: backend)
    try save(base, by: theirs)
    let mine = try store(on: backend, .merge)
    var states = net
    states.removeAbsent(in: server.states)
    for row in decisions.theirs { states.remove(row.className, row.rowID) }
    let rest = try mine.setRecords(states, keepsBases: true)
    for (row, edit) in decisions.edits { try apply(edit, to: row, in: mine) }
    // Changes that were taken back are none, also for an object that was deleted here.
    var changed = server.states
    changed.removeSame(as: base)
    try save(changed, by: theirs)
    guard let commit = pending.last?.entry.commit.again else {
      return Plan(states: states, pending: [])
    }
    var decided = 0
    let (decide, kept) = (decide, decisions.mine)
    mine.mergeDecider = { object, theirs, properties in
      guard theirs != nil else {
        return kept.contains(Row(className: object.className, rowID: object.rowID)) ? .mine : nil
      }
      decided += 1
      switch decide(SyncConflict(id: object.syncID, kind: .properties(properties))) {
      case .mine: return .mine
      case .theirs: return .theirs
      case .edit(let edit):
        edit(object)
        return .mine
      case .fail: return nil
      }
    }
    try mine.saveChanges { (changes, request) throws(StoreError) in
      try mine.add(rest, to: &changes)
      request.token = commit.token
    }
    conflictCount += decided
    var plan = try plan(
      of: backend, after: start,
      [PendingCommit(sequence: nil, entry: HistoryEntry(commit: commit))])
    plan.isMerged = true
    return plan
  }

  private func apply(
    _ edit: (StoredObject) -> Void, to row: Row, in store: Store
  ) throws(StoreError) {
    guard let type = classes.first(where: { $0.storedName == row.className }),
      let object = try store.object(type, rowID: row.rowID)
    else { return }
    edit(object)
  }

  // MARK: Conflicts that end a save

  /// Asks for a decision about a conflict; returns false if there is none.
  private mutating func decide(_ error: StoreError) throws(StoreError) -> Bool {
    guard let name = error.location.className, let first = error.location.rowID else {
      return false
    }
    let row = row(className: name, rowID: first, or: error.location.otherRowID)
    let rowID = row.rowID
    let (mine, theirs) = (net.record(name, rowID), server.states.record(name, rowID))
    let kind: SyncConflict.Kind
    if error.code == .notUnique {
      kind = .notUnique(property: error.location.property ?? "")
    } else if error.code == .conflict, case .some(nil) = mine {
      kind = .deletedHere
    } else if error.code == .conflict, case .some(nil) = theirs {
      kind = .deletedElsewhere
    } else if error.code == .conflict, theirs != nil, case .some(nil) = base.record(name, rowID) {
      kind = .restoredTwice
    } else {
      return false
    }
    // An earlier decision has not helped.
    if decisions.theirs.contains(row) || decisions.edits[row] != nil { return false }
    switch decide(SyncConflict(id: ObjectID(className: name, rowID: rowID), kind: kind)) {
    case .theirs: decisions.theirs.insert(row)
    case .edit(let edit):
      decisions.edits[row] = edit
      decisions.mine.insert(row)
    case .mine:
      if error.code == .notUnique { return false }
      guard decisions.mine.insert(row).inserted else { return false }
    case .fail: return false
    }
    return true
  }

  /// Returns the object of the device that has a unique value of another object.
  private func row(className: String, rowID: UInt32, or other: UInt32?) -> Row {
    let rows = [rowID, other].compactMap(\.self).map { Row(className: className, rowID: $0) }
    let own = rows.filter {
      net.record(className, $0.rowID) != nil && decisions.edits[$0] == nil
        && !decisions.theirs.contains($0)
    }
    // The value of one that both sides have changed may be the other side's.
    let mine = own.first { server.states.record(className, $0.rowID) == nil }
    return mine ?? own.first ?? rows[0]
  }

  // MARK: Stores

  private func store(
    on backend: any StoreBackend, _ policy: ConflictPolicy = .error
  ) throws(StoreError) -> Store {
    let configuration = StoreConfiguration(conflictPolicy: policy)
    let store = try StoreRecipe(classes: classes, configuration: configuration)
      .makeStore(on: backend)
    store.valueTransfer = .trial
    return store
  }

  private func save(_ states: RecordStates, by store: Store) throws(StoreError) {
    let rest = try store.setRecords(states)
    if rest.isEmpty { return try store.saveChanges() }
    try store.saveChanges { (changes, _) throws(StoreError) in try store.add(rest, to: &changes) }
  }

  /// Reads from the history of the copy what has changed in it.
  ///
  /// - Parameters:
  ///   - backend: The copy.
  ///   - start: The last commit of the device.
  ///   - commits: The commits whose tokens those of the device have there.
  /// - Returns: The changes of the store, and the commits with what they have become.
  /// - Throws: `StoreError` with `damaged`, `ioError` or `closed`.
  private func plan(
    of backend: any StoreBackend, after start: UInt64, _ commits: [PendingCommit]
  ) throws(StoreError) -> Plan {
    let known = Dictionary(commits.map { ($0.token, $0) }) { first, _ in first }
    var (before, after) = (RecordStates(), RecordStates())
    var pending: [PendingCommit] = []
    do {
      try backend.forEachCommit(after: start) { entry in
        let changes = entry.synchronized
        before.add(before: changes)
        after.add(after: changes)
        if let one = known[entry.commit.token], !changes.hasNothing {
          let isSame = one.entry.hasSameChanges(as: changes)
          pending.append(
            PendingCommit(
              sequence: isSame ? one.sequence : nil,
              entry: changes.with(
                one.entry.commit,
                one.entry.orderedTables.isEmpty
                  ? changes.orderedTables : one.entry.orderedTables)))
        }
        return .next
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
    after.removeSame(as: before)
    return Plan(states: after, pending: pending.inOneOrder)
  }
}

extension Commit {
  /// A new commit of the same author and time.
  fileprivate var again: Commit {
    Commit(number: 1, token: UUID(), author: author, microseconds: microseconds, basedOn: nil)
  }
}

extension SyncRebase.Plan {
  /// Adds the changes of items to the commits that the server has to get.
  mutating func add(_ items: ItemRebase.Plan, to left: [PendingCommit]) {
    if isMerged {
      guard let last = left.last else { return }
      var one = pending.first ?? PendingCommit(entry: HistoryEntry(commit: last.entry.commit.again))
      one.items = items.merged
      pending = one.hasNothing ? [] : [one]
      return
    }
    let objects = Dictionary(pending.map { ($0.token, $0) }) { first, _ in first }
    pending =
      zip(left, items.pending).compactMap { old, changes in
        let known = objects[old.token]
        let isSame =
          changes == old.items
          && (known.map { $0.sequence == old.sequence } ?? old.entry.hasNothing)
        let one = PendingCommit(
          sequence: isSame ? old.sequence : nil,
          entry: known?.entry ?? HistoryEntry(commit: old.entry.commit), items: changes)
        return one.hasNothing ? nil : one
      }
      .inOneOrder
  }
}

extension [PendingCommit] {
  /// The commits with the keys of those that stay in front; the others get new keys behind them.
  fileprivate var inOneOrder: [PendingCommit] {
    var isInFront = true
    return map { one in
      isInFront = isInFront && one.sequence != nil
      var ordered = one
      if !isInFront { ordered.sequence = nil }
      return ordered
    }
  }
}

extension HistoryEntry {
  fileprivate func hasSameChanges(as other: HistoryEntry) -> Bool {
    buffers == other.buffers && tables.map(\.name) == other.tables.map(\.name)
      && zip(tables, other.tables).allSatisfy { $0.records == $1.records }
  }
}

extension StoredObject {
  fileprivate var className: String { type(of: self).storedName }
  fileprivate var syncID: ObjectID<StoredObject> { ObjectID(className: className, rowID: rowID) }
}

extension RecordStates {
  /// Removes the states that are equal in both.
  fileprivate mutating func removeSame(as others: RecordStates) {
    for (name, rows) in records {
      let known = others.records[name] ?? [:]
      records[name] = rows.filter { rowID, record in known[rowID] != .some(record) }
    }
    buffers = buffers.filter { name, bytes in others.buffers[name] != .some(bytes) }
  }
}

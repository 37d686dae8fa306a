import FoundationEssentials
import KeyValueStoreCore
import StoreEngine
import StoredObjectsCore

/// Commits of a device that its server does not have.
struct PendingCommits: Sendable {
  var commits: [PendingCommit]
  /// The last commit of the store that has been looked at.
  var localNumber: UInt64
}

extension StoreBackend {
  /// Returns what the store's own commits after a number have changed, in order.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - last: The number of the last commit.
  ///   - tables: The key-value tables after the last commit; nil to leave out items.
  /// - Returns: The commits, without those that have changed nothing.
  /// - Throws: `StoreError` with `damaged`, `ioError` or `closed`.
  func ownCommits(
    after number: UInt64, upTo last: UInt64, tables: ItemTables?
  ) throws(StoreError) -> [PendingCommit] {
    var (entries, tables) = ([HistoryEntry](), tables)
    do {
      try forEachCommit(after: number) { entry in
        if entry.commit.number > last { return .pause }
        entries.append(entry)
        return .next
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: location)) }
    for entry in entries.reversed() { tables?.undo(entry) }
    var commits: [PendingCommit] = []
    for entry in entries {
      let items = try tables?.changes(of: entry) ?? ItemChanges()
      let commit = PendingCommit(entry: entry.synchronized, items: items)
      if !commit.hasNothing { commits.append(commit) }
    }
    return commits
  }
}

extension SyncClient {
  /// Returns the commits that the server does not have.
  func pendingCommits() throws(StoreError) -> PendingCommits {
    guard let state = try backend.syncState() else {
      return PendingCommits(commits: [], localNumber: backend.lastCommitNumber)
    }
    let backend = backend
    let (last, tables) = try backend.coordinator.whileCommitting { () throws(StoreError) in
      (backend.lastCommitNumber, state.hasItems ? try ItemTables(backend) : nil)
    }
    var own = try backend.ownCommits(after: state.localNumber, upTo: last, tables: tables)
    for index in own.indices { own[index].items.removeTables(localTables) }
    own.removeAll(where: \.hasNothing)
    return PendingCommits(commits: try backend.storedCommits() + own, localNumber: last)
  }

  private var localTables: Set<[UInt8]> { Set(configuration.localTables.map { Array($0.utf8) }) }

  /// Puts the commits of the server into the store, and the pending ones after them.
  func integrate(_ changes: ServerChanges, _ report: inout SyncReport) async throws {
    if changes.isEmpty { return }
    // Merges may read them. The commit finds out whether any is missing.
    try await fetch(changes.newValues)
    try learnClasses(changes)
    var attemptsLeft = 100
    while true {
      let pending = try pendingCommits()
      let left = pending.commits.filter { !changes.tokens.contains($0.token) }
      var items = ItemRebase(changes.items, left, configuration.decideItem)
      items.ignoreTables(localTables)
      let itemPlan = try items.run()
      var rebase = SyncRebase(
        changes, left.filter { !$0.entry.hasNothing }, self.classes, configuration.decide)
      var plan = try rebase.run { () throws(StoreError) in try source.scratch() }
      plan.add(itemPlan, to: left)
      do throws(StoreError) {
        try write(plan, itemPlan.states, changes, after: pending)
        report.sent += pending.commits.count - left.count
        report.received += changes.changingTokens.count - (pending.commits.count - left.count)
        report.conflicts += rebase.conflictCount + items.conflictCount
        incoming.releaseAll()
        return
      } catch {
        attemptsLeft -= 1
        if attemptsLeft == 0 { throw error }
        if isOvertaken(error, after: pending) { continue }
        // A row may return with a value that the store has dropped.
        guard let missing = error.underlying as? MissingValues,
          try await fetch(missing.references).isEmpty
        else { throw error }
      }
    }
  }

  /// Whether a commit failed because a store of this process has saved meanwhile: the commit itself
  /// finds that out, or before it the save, which compares objects.
  private func isOvertaken(_ error: StoreError, after pending: PendingCommits) -> Bool {
    if error.underlying is Overtaken { return true }
    return error.code == .conflict && backend.lastCommitNumber != pending.localNumber
  }

  private func write(
    _ plan: SyncRebase.Plan, _ items: ItemChanges, _ changes: ServerChanges,
    after pending: PendingCommits
  ) throws(StoreError) {
    let store = try newStore()
    let incoming = incoming
    var (missing, dropped) = ([ExternalReference](), [ExternalID]())
    store.valueTransfer = .checked { (reference) throws(StoreError) in
      if try !incoming.isHere(reference) { missing.append(reference) }
    }
    let rest = try store.setRecords(plan.states)
    let (backend, leases) = (backend, rows(besides: changes))
    let tables = try backend.serverTables()
    _ = try backend.committing(items) { (addItems) throws(StoreError) in
      try store.saveChanges { (commit, request) throws(StoreError) in
        guard backend.lastCommitNumber == pending.localNumber else { throw Overtaken.error() }
        try store.add(rest, to: &commit)
        let values = try changes.addValues(of: rest, to: &commit, in: backend, incoming)
        (missing, dropped) = (missing + values.missing, values.dropped)
        guard missing.isEmpty else { throw MissingValues.error(missing, at: backend.location) }
        try addItems(&commit)
        let state = SyncState(
          position: changes.position, localNumber: pending.localNumber + 1,
          hasItems: tables != nil)
        try commit.set(state, pending.commits, plan.pending, leases, in: backend)
        if let tables, let new = changes.tables {
          commit.set(new, from: tables, in: try backend.orderedTable(SyncTable.name))
        }
        request.author = "sync"
      }
    }
    backend.coordinator.externalValues(of: backend)?.didDrop(dropped)
  }

  /// Notes that the server has taken commits.
  ///
  /// - Returns: The commits that are left.
  func accept(_ left: PendingCommits, _ position: HistoryPosition) throws(StoreError)
    -> PendingCommits
  {
    let (backend, leases) = (backend, leases.all)
    return try backend.coordinator.whileCommitting { () throws(StoreError) in
      let stored = try backend.storedCommits()
      var (changes, kept) = (ChangeSet(), left)
      let hasItems = try backend.syncState()?.hasItems ?? true
      let state = SyncState(
        position: position, localNumber: left.localNumber, hasItems: hasItems)
      kept.commits = try changes.set(state, stored, left.commits, leases, in: backend)
      try backend.commit(changes, CommitRequest(author: "sync"))
      return kept
    }
  }

  /// Keeps row IDs that the server has given.
  func keep(_ new: [RowLease]) throws(StoreError) {
    if new.isEmpty { return }
    for lease in new { leases.add(lease) }
    let (backend, leases) = (backend, leases.all)
    try backend.coordinator.whileCommitting { () throws(StoreError) in
      var changes = ChangeSet()
      let table = try backend.orderedTable(SyncTable.name)
      for (name, rows) in leases { changes.set(rows, of: name, in: table) }
      try backend.commit(changes, CommitRequest(author: "sync"))
    }
  }

  /// Returns the row IDs that are left, without those that the server's commits have used: a device
  /// that was restored from a backup gets its own commits back.
  private func rows(besides changes: ServerChanges) -> [String: [ClosedRange<UInt32>]] {
    for (name, rows) in leases.all {
      guard let known = changes.states.records[name] else { continue }
      var left = rows
      for rowID in known.keys { left = left.after(rowID) }
      if left != rows { leases.set(left, of: name) }
    }
    return leases.all
  }

  /// Writes metadata rows and layouts that the server's commits have changed.
  private func learnClasses(_ news: ServerChanges) throws(StoreError) {
    if news.metadata.isEmpty, news.internalBuffers.isEmpty { return }
    if !news.internalBuffers.isEmpty { declared = nil }
    let backend = backend
    try backend.coordinator.whileCommitting { () throws(StoreError) in
      var changes = ChangeSet()
      for (name, row) in news.metadata.sorted(by: { $0.key < $1.key }) {
        let table = try backend.table(named: name)
        let merged = try backend.metadata(of: name, mergedWith: row)
        changes.set(merged, of: ClassMetadata.rowID, in: table)
      }
      for (name, bytes) in news.internalBuffers.sorted(by: { $0.key < $1.key }) {
        guard let new = try backend.internalBuffer(name, mergedWith: bytes) else { continue }
        changes.set(new, named: name)
      }
      if changes.isEmpty { return }
      try backend.commit(changes, CommitRequest(author: "sync"))
      backend.coordinator.learnMetadata(in: changes)
    }
  }

  /// Removes entries of the store's own history that no sync needs any more.
  func forgetHistory() throws(StoreError) {
    guard !configuration.keepsHistory, let state = try backend.syncState(),
      let start = try backend.historyStart(), state.localNumber > start + 1000
    else { return }
    try backend.noteHistorySeen(by: "sync", through: state.localNumber)
    try backend.purgeHistory(keeping: HistoryRetention())
  }
}

/// Another store has committed while a sync was prepared.
struct Overtaken: Error {
  static func error() -> StoreError {
    StoreError(
      .conflict, "Other saves came first a hundred times: call sync() again.",
      underlying: Overtaken())
  }
}

extension ChangeSet {
  /// Sets the state, the pending commits and the row IDs of a device.
  ///
  /// - Parameters:
  ///   - state: The state.
  ///   - old: The pending commits that are stored now.
  ///   - new: The pending commits from now on.
  ///   - leases: The row IDs that are left, by class.
  ///   - backend: The device's store.
  /// - Returns: The new commits with their keys.
  /// - Throws: `StoreError` with `ioError` or `closed`.
  @discardableResult
  mutating func set(
    _ state: SyncState, _ old: [PendingCommit], _ new: [PendingCommit],
    _ leases: [String: [ClosedRange<UInt32>]], in backend: any StoreBackend
  ) throws(StoreError) -> [PendingCommit] {
    let table = try backend.orderedTable(SyncTable.name)
    set(state, in: table)
    let kept = Set(new.compactMap(\.sequence))
    var next: UInt64 = 1
    for sequence in old.lazy.compactMap(\.sequence) {
      next = max(next, sequence + 1)
      if !kept.contains(sequence) {
        set(SyncState.key(ofCommit: sequence), to: nil, in: table)
      }
    }
    var stored = new
    for index in stored.indices where stored[index].sequence == nil {
      stored[index].sequence = next
      set(
        SyncState.key(ofCommit: next), to: HistoryFormat.encoded(stored[index].whole), in: table)
      next += 1
    }
    for (name, rows) in leases { set(rows, of: name, in: table) }
    return stored
  }
}

extension StoreBackend {
  /// Keeps the history that the device needs, see `purgeHistory(keeping:)`.
  func noteDevice() throws(StoreError) {
    guard let state = try syncState(), try historyConsumers()["sync"] == nil else { return }
    try noteHistorySeen(by: "sync", through: state.localNumber)
  }

  /// Returns the metadata row of a class with what a server's row has more.
  fileprivate func metadata(
    of className: String, mergedWith row: [UInt8]
  ) throws(StoreError) -> [UInt8] {
    guard var metadata = try classMetadata(of: className) else { return row }
    var buffer = DataBuffer(row)
    let other: ClassMetadata
    do { other = try ClassMetadata(from: &buffer) } catch {
      throw .wrapping(error, .damaged, at: .init(path: location, className: className, rowID: 1))
    }
    guard other.classID == metadata.classID else {
      throw StoreError(
        .classOrder,
        """
        The class has ID \(metadata.classID) here and \(other.classID) on the server. A store of the \
        program has saved it before the first sync.
        """, at: .init(path: location, className: className))
    }
    metadata.lastRowID = max(metadata.lastRowID, other.lastRowID)
    metadata.classVersion = max(metadata.classVersion, other.classVersion)
    if let flags = other.flags { metadata.flags = flags.union(metadata.flags ?? flags) }
    var merged = DataBuffer()
    metadata.write(to: &merged)
    return merged.bytes
  }

  /// Returns what a buffer of the store itself becomes; nil if it stays as it is.
  fileprivate func internalBuffer(
    _ name: String, mergedWith bytes: [UInt8]
  ) throws(StoreError) -> [UInt8]? {
    guard name.hasSuffix(InternalBuffers.layoutsSuffix) else { return bytes }
    return try layouts(
      extendedBy: bytes, of: String(name.dropLast(InternalBuffers.layoutsSuffix.count)))
  }
}

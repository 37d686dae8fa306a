import Files
import FoundationEssentials
import KeyValueStoreCore
import StoreEngine
import StoredObjectsCore

/// The objects, buffers and items that commits of a server have changed, as the last of them left
/// them.
struct ServerChanges {
  /// The position after the last of the commits.
  var position: HistoryPosition
  /// Objects, and named buffers of applications.
  var states = RecordStates()
  /// Items of key-value tables.
  private(set) var items = ItemChanges()
  /// The key-value tables of the server; nil if the device keeps its items for itself.
  private(set) var tables: ItemTables?
  /// The tokens of the commits.
  private(set) var tokens: Set<UUID> = []
  /// The tokens of those that have changed objects, items or named buffers of applications.
  private(set) var changingTokens: Set<UUID> = []
  /// The metadata rows, by class.
  var metadata: [String: [UInt8]] = [:]
  /// The named buffers of the store itself, such as layouts.
  var internalBuffers: [String: [UInt8]] = [:]
  /// The values outside of records that rows have begun to refer to; nil for those that they no
  /// longer refer to.
  private(set) var values: [ExternalCatalogue.Owner: [ExternalID: ExternalReference?]] = [:]
  /// The number of the last commit that the server has.
  var lastNumber: UInt64

  init(after position: HistoryPosition, _ tables: ItemTables?) {
    (self.position, lastNumber, self.tables) = (position, position.number, tables)
  }

  var isEmpty: Bool { tokens.isEmpty }

  /// Adds the next commit.
  ///
  /// - Throws: `StoreError` with `damaged` for an item that makes no sense.
  mutating func add(_ entry: HistoryEntry) throws(StoreError) {
    let (token, changes) = (entry.commit.token, entry.synchronized)
    let itemChanges = try tables?.changes(of: entry) ?? ItemChanges()
    items.add(itemChanges)
    tokens.insert(token)
    if !changes.hasNothing || !itemChanges.isEmpty { changingTokens.insert(token) }
    states.add(after: changes)
    position = position.behind(entry.commit)
    lastNumber = max(lastNumber, entry.commit.number)
    for table in entry.tables {
      let row = table.records.first { $0.rowID == ClassMetadata.rowID }
      if let row { metadata[table.name] = row.after }
    }
    for change in entry.buffers where InternalBuffers.contain(change.name) {
      internalBuffers[change.name] = change.after
    }
    for change in entry.valueChanges {
      guard let (id, owner) = ExternalCatalogue.listed(inKey: change.key), !owner.isHistory else {
        continue
      }
      let reference = change.after.flatMap {
        ExternalCatalogue.reference(key: change.key, value: $0)
      }
      values[owner, default: [:]][id] = .some(reference)
    }
  }

  /// The values that rows have begun to refer to.
  var newValues: Set<ExternalReference> {
    Set(values.values.lazy.flatMap(\.values).compactMap(\.self))
  }
}

/// A commit of the device that the server does not have yet.
struct PendingCommit: Sendable {
  /// The key in the device's table; nil for one that is only in its history.
  var sequence: UInt64?
  /// The objects and buffers that it changes, and the values that rows begin to refer to.
  var entry: HistoryEntry
  /// The items of key-value tables that it changes.
  var items: ItemChanges

  var token: UUID { entry.commit.token }
  var hasNothing: Bool { entry.hasNothing && items.isEmpty }

  init(sequence: UInt64? = nil, entry: HistoryEntry, items: ItemChanges = ItemChanges()) {
    (self.sequence, self.entry, self.items) = (sequence, entry, items)
  }

  /// Reads a commit that a device has stored or sent.
  ///
  /// - Throws: `StoreError` with `invalidArgument` for items that make no sense.
  init(sequence: UInt64? = nil, whole entry: HistoryEntry) throws(StoreError) {
    (self.sequence, self.entry) = (sequence, entry)
    items = try ItemChanges(entry.orderedTables.filter { ItemChanges.areIn($0.name) })
    self.entry.orderedTables.removeAll { ItemChanges.areIn($0.name) }
  }

  /// The commit as an entry that the device stores.
  var whole: HistoryEntry {
    HistoryEntry(
      commit: entry.commit, tables: entry.tables, buffers: entry.buffers,
      orderedTables: entry.orderedTables + items.orderedTables)
  }

  /// The commit as an entry that a server gets, which lists the values itself.
  var sent: HistoryEntry {
    HistoryEntry(
      commit: entry.commit, tables: entry.tables, buffers: entry.buffers,
      orderedTables: items.orderedTables)
  }
}

extension HistoryEntry {
  /// The entry with the objects and named buffers of applications.
  ///
  /// It also has the keys of values outside of records that rows begin to refer to.
  var synchronized: HistoryEntry {
    let added = valueChanges.filter { change in
      change.after != nil && ExternalCatalogue.listed(inKey: change.key)?.owner.isHistory == false
    }
    return HistoryEntry(
      commit: commit,
      tables: tables.compactMap { table in
        let objects = Array(table.objects)
        return objects.isEmpty ? nil : TableChanges(name: table.name, records: objects)
      },
      buffers: buffers.filter { !InternalBuffers.contain($0.name) },
      orderedTables: added.isEmpty
        ? [] : [OrderedTableChanges(name: ExternalCatalogue.table, keys: added)])
  }

  /// The changes of the list of values outside of records.
  var valueChanges: [KeyChange] {
    orderedTables.first { $0.name == ExternalCatalogue.table }?.keys ?? []
  }

  /// The values outside of records that rows begin to refer to, each once.
  var newValues: Set<ExternalReference> {
    Set(
      valueChanges.compactMap { change in
        change.after.flatMap { ExternalCatalogue.reference(key: change.key, value: $0) }
      })
  }

  /// Whether it has neither objects nor buffers.
  var hasNothing: Bool { tables.isEmpty && buffers.isEmpty }

  /// Whether it deletes any object.
  var deletes: Bool { tables.contains { $0.records.contains { $0.after == nil } } }

  /// The same changes by another commit.
  func with(_ commit: Commit, _ values: [OrderedTableChanges]) -> HistoryEntry {
    HistoryEntry(commit: commit, tables: tables, buffers: buffers, orderedTables: values)
  }
}

extension RecordStates {
  /// Sets the states after a commit.
  mutating func add(after entry: HistoryEntry) {
    for table in entry.tables {
      for record in table.records { set(record.after, table.name, record.rowID) }
    }
    for change in entry.buffers { buffers[change.name] = .some(change.after) }
  }

  /// Sets the states before a commit, of rows and buffers that have none here.
  mutating func add(before entry: HistoryEntry) {
    for table in entry.tables {
      for record in table.records where self.record(table.name, record.rowID) == nil {
        set(record.before, table.name, record.rowID)
      }
    }
    for change in entry.buffers where buffers[change.name] == nil {
      buffers[change.name] = .some(change.before)
    }
  }

  /// The states after commits, in order.
  init(after entries: some Sequence<HistoryEntry>) {
    self.init()
    for entry in entries { add(after: entry) }
  }

  /// The states before commits, in order.
  init(before entries: some Sequence<HistoryEntry>) {
    self.init()
    for entry in entries { add(before: entry) }
  }

  /// Whether any row or buffer has another state in others.
  func differs(from others: RecordStates) -> Bool {
    if buffers.contains(where: { name, bytes in others.buffers[name].map { $0 != bytes } ?? false })
    {
      return true
    }
    return records.contains { name, rows in
      guard let theirs = others.records[name] else { return false }
      return rows.contains { rowID, record in theirs[rowID].map { $0 != record } ?? false }
    }
  }

  /// Whether any object is absent.
  var hasAbsent: Bool { records.contains { $0.value.contains { $0.value == nil } } }

  /// Adds states, which replace those of the same rows and buffers.
  mutating func add(_ later: RecordStates) {
    for (name, rows) in later.records {
      records[name, default: [:]].merge(rows) { _, new in new }
    }
    buffers.merge(later.buffers) { _, new in new }
  }

  /// Removes the states of objects that are absent on both sides.
  mutating func removeAbsent(in others: RecordStates) {
    for (name, rows) in records {
      guard let theirs = others.records[name] else { continue }
      records[name] = rows.filter { rowID, record in
        guard record == nil, case .some(nil) = theirs[rowID] else { return true }
        return false
      }
    }
  }

  /// Removes the state of a row.
  mutating func remove(_ className: String, _ rowID: UInt32) {
    records[className]?[rowID] = nil
  }
}

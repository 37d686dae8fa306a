import Locks

/// The pending keys of an ordered table.
///
/// A save changes few tables, so searching an array is faster than a dictionary.
///
/// It is no tuple, which the runtime would copy field by field.
struct TableKeys {
  let table: OrderedTableID
  let keys: PendingKeys
}

// Operations on class files and files of ordered tables together.
extension ClassFiles {
  /// Returns the pending keys, including a save, of the ordered tables that the save changes.
  ///
  /// A lost index takes no changes until it is begun again.
  ///
  /// - Parameters:
  ///   - changes: The save.
  ///   - pending: The pending keys without the save.
  ///   - folding: The keys that are being moved to the files.
  ///   - later: The pending keys after saves that precede this one but are not written yet.
  /// - Returns: The pending keys of these tables, in the order of the save.
  /// - Throws: ``StoreError`` with `ioError` or `damaged`.
  func pendingKeys(
    adding changes: ChangeSet, to pending: [OrderedTableID: PendingKeys],
    over folding: [OrderedTableID: PendingKeys] = [:], _ later: [TableKeys] = []
  ) throws(StoreError) -> [TableKeys] {
    var all: [TableKeys] = []
    for change in changes.ordered where !change.isEmpty {
      let (file, generation) = try ordered.file(of: change.table)
      var keys: PendingKeys
      if let known = later.last(where: { $0.table == change.table }) {
        keys = known.keys
      } else if let known = pending[change.table] {
        keys = known
      } else if let below = folding[change.table] {
        keys = PendingKeys(over: below)
      } else {
        keys = PendingKeys(fileGeneration: generation)
      }
      if file.isLost && !keys.isCleared && !change.clearsFirst { continue }
      try keys.add(change, changes.bytes, over: file.opened)
      all.append(TableKeys(table: change.table, keys: keys))
    }
    return all
  }

  /// Returns the same for a save that bypasses the log, if nothing is pending.
  func allKeys(of changes: ChangeSet) throws(StoreError) -> [OrderedTableID: PendingKeys] {
    var all: [OrderedTableID: PendingKeys] = [:]
    for change in changes.ordered where !change.isEmpty {
      var keys = PendingKeys(fileGeneration: try ordered.file(of: change.table).generation)
      keys.addAll(change, changes.bytes)
      all[change.table] = keys
    }
    return all
  }

  /// Creates new files of all kinds, or none.
  ///
  /// If ordered tables get many keys, their files are written on a second thread, which also calls
  /// `keys` for their pending keys.
  func prepareAll(
    _ changes: ChangeSet, mark: FileMark, durability: Durability,
    keys: @escaping @Sendable () throws(StoreError) -> [OrderedTableID: PendingKeys]
  ) throws(StoreError) -> [Replacement] {
    let prepareOrdered: @Sendable () throws(StoreError) -> [Replacement] = {
      [ordered] () throws(StoreError) in
      let tables = try keys().sorted { $0.key.index < $1.key.index }.map { ($0.key, $0.value) }
      return try ordered.prepare(tables, mark: mark, durability: durability)
    }
    let keyCount = changes.ordered.reduce(0) { $0 + $1.changes.count }
    let isLarge = TwoThreads.areUseful(for: keyCount)
    let files =
      isLarge ? JoinedResult { Result { () throws(StoreError) in try prepareOrdered() } } : nil
    // Small ones are written one after another, so that the disk sees operations in a fixed order.
    let early = files == nil ? Result { () throws(StoreError) in try prepareOrdered() } : nil
    if case .failure(let error) = early { throw error }
    let records = Result { () throws(StoreError) in
      try prepare(changes, mark: mark, durability: durability)
    }
    let made = [files?.take() ?? early ?? .success([]), records]
    do {
      let (ordered, records) = (try made[0].get(), try records.get())
      // The log will name the new files, so they must exist after a power cut.
      if durability != .none && !ordered.isEmpty { try synchronizeNames() }
      return records + ordered
    } catch {
      for case .success(let replacements) in made { discard(replacements) }
      throw error
    }
  }

  /// Publishes new files of all kinds.
  func publishAll(_ replacements: [Replacement]) throws(StoreError) {
    let isOrdered = { (replacement: Replacement) in
      OrderedTableName(fileName: replacement.name) != nil
    }
    try publish(replacements.filter { !isOrdered($0) })
    try ordered.publish(replacements.filter(isOrdered))
  }

  /// Whether a file of any kind exists.
  func hasAnyFile(_ name: String) throws(StoreError) -> Bool {
    if let name = OrderedTableName(fileName: name) { return try ordered.hasFile(name) }
    return try hasFile(name)
  }

  /// Returns the mark in a file of any kind; nil if there is no file or no mark.
  func markOfAnyFile(_ name: String) throws(StoreError) -> FileMark? {
    OrderedTableName(fileName: name) == nil
      ? try mark(of: name) : try ordered.mark(of: name)
  }

  /// Returns the mark in the new file of a replacement; nil if there is no file or no mark.
  func markOfNewFile(_ replacement: Replacement) throws(StoreError) -> FileMark? {
    OrderedTableName(fileName: replacement.name) == nil
      ? try mark(ofNewFile: replacement.newName)
      : try ordered.mark(ofFile: replacement.newName)
  }

  /// Returns the open files that a checkpoint of the pending changes rewrites.
  func openFiles(touchedBy pending: PendingRecords) -> [any Sendable] {
    let ofKeys = pending.ordered.keys.compactMap { try? ordered.file(of: $0).file.opened }
    return openFiles(touchedBy: pending.footprint) + ofKeys
  }

  /// Returns the total size of the files that a checkpoint of the pending changes rewrites.
  func byteCount(touchedBy pending: PendingRecords) throws(StoreError) -> Int {
    try byteCount(touchedBy: pending.footprint) + ordered.byteCount(of: pending.ordered.keys)
  }
}

import Locks

/// The pending keys of an ordered table.
///
/// A save changes few of them: to look at all takes less than a dictionary.
typealias TableKeys = (table: OrderedTableID, keys: PendingKeys)

// What becomes of class files and of those of ordered tables, together.
extension RecordFiles {
  /// What will be pending of the ordered tables that a save changes.
  ///
  /// An index that is lost takes no changes until it is begun again.
  ///
  /// - Parameters:
  ///   - changes: The save.
  ///   - pending: What is pending.
  ///   - folding: What is being brought to the files.
  ///   - later: What will be, once the saves before this one are written.
  /// - Returns: all that will be pending of these tables, in the order of the save.
  /// - Throws: ``StoreError`` with `ioError` or `damaged`.
  func pendingKeys(
    adding changes: ChangeSet, to pending: [OrderedTableID: PendingKeys],
    over folding: [OrderedTableID: PendingKeys] = [:], _ later: [TableKeys] = []
  ) throws(StoreError) -> [TableKeys] {
    var all: [TableKeys] = []
    for change in changes.ordered where !change.isEmpty {
      let (file, generation) = try ordered.file(of: change.table)
      var keys =
        later.last { $0.table == change.table }?.keys ?? pending[change.table]
        ?? folding[change.table].map { PendingKeys(over: $0) }
        ?? PendingKeys(fileGeneration: generation)
      if file.isLost && !keys.isCleared && !change.clearsFirst { continue }
      try keys.add(change, changes.bytes, over: file.opened)
      all.append((change.table, keys))
    }
    return all
  }

  /// The same for a save that goes past the log, where nothing is pending.
  func allKeys(of changes: ChangeSet) throws(StoreError) -> [OrderedTableID: PendingKeys] {
    var all: [OrderedTableID: PendingKeys] = [:]
    for change in changes.ordered where !change.isEmpty {
      var keys = PendingKeys(fileGeneration: try ordered.file(of: change.table).generation)
      keys.addAll(change, changes.bytes)
      all[change.table] = keys
    }
    return all
  }

  /// Makes new files of all kinds; a failure leaves none behind.
  ///
  /// Those of ordered tables, if they get many keys, on a second thread, and with them `keys`,
  /// which gives what is pending of them.
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
    let isLarge = keyCount >= TwoThreads.minimumCount
    let files =
      isLarge ? JoinedResult { Result { () throws(StoreError) in try prepareOrdered() } } : nil
    // Small ones one after the other, so that what happens to a disk always happens in one order.
    let early = files == nil ? Result { () throws(StoreError) in try prepareOrdered() } : nil
    if case .failure(let error) = early { throw error }
    let records = Result { () throws(StoreError) in
      try prepare(changes, mark: mark, durability: durability)
    }
    let made = [files?.take() ?? early ?? .success([]), records]
    do {
      let (ordered, records) = (try made[0].get(), try records.get())
      // The log is going to name the new files, so they must be there after a power cut.
      if durability != .none && !ordered.isEmpty { try synchronizeNames() }
      return records + ordered
    } catch {
      for case .success(let replacements) in made { discard(replacements) }
      throw error
    }
  }

  /// Puts new files of all kinds in place.
  func publishAll(_ replacements: [Replacement]) throws(StoreError) {
    let isOrdered = { (replacement: Replacement) in
      OrderedTableName(fileName: replacement.name) != nil
    }
    try publish(replacements.filter { !isOrdered($0) })
    try ordered.publish(replacements.filter(isOrdered))
  }

  /// Whether a file of any kind is there.
  func hasAnyFile(_ name: String) throws(StoreError) -> Bool {
    if let name = OrderedTableName(fileName: name) { return try ordered.hasFile(name) }
    return try hasFile(name)
  }

  /// The mark in a file of any kind; nil when there is no file, or none in it.
  func markOfAnyFile(_ name: String) throws(StoreError) -> FileMark? {
    OrderedTableName(fileName: name) == nil
      ? try mark(of: name) : try ordered.mark(of: name)
  }

  /// The mark in the new file of a replacement; nil when there is no file, or none in it.
  func markOfNewFile(_ replacement: Replacement) throws(StoreError) -> FileMark? {
    OrderedTableName(fileName: replacement.name) == nil
      ? try mark(ofNewFile: replacement.newName)
      : try ordered.mark(ofFile: replacement.newName)
  }

  /// The files that what is pending is folded into, open.
  func openFiles(touchedBy pending: PendingRecords) -> [any Sendable] {
    let ofKeys = pending.ordered.keys.compactMap { try? ordered.file(of: $0).file.opened }
    return openFiles(touchedBy: pending.footprint) + ofKeys
  }

  /// The size of all files that are written anew when what is pending is folded.
  func byteCount(touchedBy pending: PendingRecords) throws(StoreError) -> Int {
    try byteCount(touchedBy: pending.footprint) + ordered.byteCount(of: pending.ordered.keys)
  }
}

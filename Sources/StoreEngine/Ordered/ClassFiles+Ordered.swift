import Locks

/// The changes of a save to an ordered table, with all that adding them requires.
///
/// It is no tuple, which the runtime would copy field by field.
struct PreparedKeys: Sendable {
  enum Addition {
    /// A small save, see ``PendingKeys/presence(of:_:over:)``.
    case small(presence: [Bool])
    /// A small save, see ``PendingKeys/addUncounted(_:_:)``.
    case uncounted
    /// The pending keys with a large save.
    case large(PendingKeys)
  }

  let table: OrderedTableID
  /// The index of the table's changes in the save.
  let index: Int
  let addition: Addition
  /// The number of times that the table's file has been replaced.
  let fileGeneration: UInt64
  /// Whether the table is a lost index, which takes no changes until it is begun again.
  let isLost: Bool
}

// Operations on class files and files of ordered tables together.
extension ClassFiles {
  /// Prepares to add a save to the pending keys of the ordered tables that it changes.
  ///
  /// - Parameters:
  ///   - changes: The save.
  ///   - pending: The pending keys without the save.
  ///   - folding: The keys that are being moved to the files.
  ///   - isCounting: Whether to look up which keys of small saves exist already.
  /// - Returns: The prepared keys of these tables, in the order of the save.
  /// - Throws: ``StoreError`` with `ioError` or `damaged`.
  func preparedKeys(
    adding changes: ChangeSet, to pending: [OrderedTableID: PendingKeys],
    over folding: [OrderedTableID: PendingKeys] = [:], isCounting: Bool = true
  ) throws(StoreError) -> [PreparedKeys] {
    var all: [PreparedKeys] = []
    for (index, save) in changes.ordered.enumerated() where !save.isEmpty {
      let (file, generation) = try ordered.file(of: save.table)
      func keys() -> PendingKeys {
        pending[save.table] ?? PendingKeys(over: folding[save.table], generation)
      }
      func add(_ addition: PreparedKeys.Addition) {
        all.append(
          PreparedKeys(
            table: save.table, index: index, addition: addition, fileGeneration: generation,
            isLost: file.isLost))
      }
      if save.isLarge {
        var keys = keys()
        if file.isLost && !keys.replacesFile && !save.clearsFirst { continue }
        try keys.addLarge(save, changes.bytes, over: file.opened)
        add(.large(keys))
      } else if isCounting {
        let isKnown = save.clearsFirst || save.changes.allSatisfy { $0.wasThere != nil }
        let presence =
          isKnown ? [] : try keys().presence(of: save, changes.bytes, over: file.opened)
        add(.small(presence: presence))
      } else {
        add(.uncounted)
      }
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

  /// Makes the next access to files that have been replaced open them again.
  func forget(_ replacements: [Replacement]) {
    for name in replacements.map(\.name) {
      if OrderedTableName(fileName: name) == nil {
        // A file that has no number yet is not open.
        tables.all.first { $0.name == name }?.forget()
      } else {
        ordered.forget(name)
      }
    }
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

  /// Returns the sizes of the files that a checkpoint of the pending changes rewrites.
  func byteCounts(touchedBy pending: PendingRecords) throws(StoreError) -> FoldedBytes {
    try byteCounts(touchedBy: pending.footprint, pending.ordered.keys)
  }

  /// Returns the sizes of class files and of files of ordered tables.
  func byteCounts(
    touchedBy footprint: PendingFootprint, _ ordered: some Sequence<OrderedTableID>
  ) throws(StoreError) -> FoldedBytes {
    FoldedBytes(
      records: try byteCount(touchedBy: footprint),
      keys: try self.ordered.foldedByteCount(of: ordered),
      areOnlyKeys: footprint.tables.isEmpty && !footprint.hasNames)
  }
}

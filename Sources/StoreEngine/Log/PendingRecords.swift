/// The content of the commit log beyond the class files: the newest state of its rows and names.
///
/// It is a value: a reader takes a copy, which commits don't change.
struct PendingRecords: Sendable {
  /// A row or a name in the log.
  ///
  /// It takes 16 bytes, because there may be millions.
  struct Entry: Sendable {
    private let start: Int
    private let count: UInt32
    /// The number of the batch with the bytes; the highest number if the row is deleted.
    private let batchNumber: UInt32
    private static let noBatch = UInt32.max

    /// - Precondition: There are fewer than 2^32 - 1 batches, and less than 4 GiB in the range.
    fileprivate init(batch: Int?, range: Range<Int>?) {
      // An empty range has no position, so that it can be read after its batch is freed.
      let range = range ?? 0..<0
      (start, count) = (range.isEmpty ? 0 : range.lowerBound, UInt32(range.count))
      batchNumber = batch.map { UInt32($0) } ?? Self.noBatch
    }

    fileprivate var batch: Int? { isDeleted ? nil : Int(batchNumber) }
    fileprivate var range: Range<Int> { start..<start + Int(count) }
    var isDeleted: Bool { batchNumber == Self.noBatch }

    /// Returns the entry with its bytes moved to the end of the only batch.
    fileprivate func moved(to bytes: inout [UInt8], from batches: PendingBytes) -> Entry {
      guard let batch else { return self }
      let start = bytes.count
      bytes.append(contentsOf: batches[batch][range])
      return Entry(batch: 0, range: start..<bytes.count)
    }
  }

  /// The pending changes of one table.
  struct Table: Sendable {
    var rows = PendingRows()
    /// The number of rows that the table has more than its file.
    var countDifference = 0
    /// The generation of that file.
    ///
    /// A file of a later generation contains the pending changes, so it has the same rows.
    var fileGeneration: UInt64 = 0

    /// Adds the row changes of a save.
    ///
    /// - Parameters:
    ///   - records: The changes.
    ///   - file: The state of the table's file.
    ///   - batches: The bytes of the saves before this one, which is the next.
    fileprivate mutating func add(
      _ records: [ChangeSet.RecordChange], over file: FileState, _ batches: inout PendingBytes
    ) {
      rows.reserveRoom(for: records.count)
      for (index, record) in records.enumerated() {
        let old = set(record, isInFile: file.hasRow(of: index), batch: batches.count)
        if let old, let batch = old.batch { batches.release(old.range.count, of: batch) }
      }
    }

    /// Sets the last change of a row, and returns the previous one.
    private mutating func set(
      _ record: ChangeSet.RecordChange, isInFile: Bool, batch: Int
    ) -> Entry? {
      let exists = record.kind != .delete
      let old = rows.updateValue(
        Entry(batch: exists ? batch : nil, range: record.range), forRow: record.rowID)
      let existed = old.map { !$0.isDeleted } ?? isInFile
      countDifference += (exists ? 1 : 0) - (existed ? 1 : 0)
      return old
    }
  }

  /// The state of a table's file that adding a save requires.
  struct FileState {
    /// The number of times the file has been replaced.
    var generation: UInt64 = 0
    /// For each change of the table, whether the file has its row; empty if it has none of them.
    private var hasRows: [Bool] = []

    /// Creates the state of a file that has none of the rows.
    init(generation: UInt64 = 0) { self.generation = generation }

    /// Records that the file has the row of one of `count` changes.
    mutating func note(rowOf index: Int, of count: Int) {
      if hasRows.isEmpty { hasRows = Array(repeating: false, count: count) }
      hasRows[index] = true
    }

    /// Whether the file has the row of a change.
    func hasRow(of index: Int) -> Bool { !hasRows.isEmpty && hasRows[index] }
  }

  private(set) var tables = TableMap<Table>()
  private(set) var names: [ExactName: Entry] = [:]
  /// The pending changes of ordered tables.
  private(set) var ordered: [OrderedTableID: PendingKeys] = [:]
  /// The bytes of saves with records or named buffers; keys of ordered tables are kept elsewhere.
  private var batches = PendingBytes()
  /// The number of bytes that were saved.
  private(set) var byteCount = 0

  private(set) var isEmpty = true

  /// Adds a save to the pending changes.
  ///
  /// - Parameters:
  ///   - changes: The save.
  ///   - files: The states of its tables' files, in the order of the save; none for new files.
  ///   - keys: The prepared keys of the ordered tables that it changes.
  ///   - folding: The keys that are being moved to the files.
  mutating func add(
    _ changes: ChangeSet, over files: [FileState], keys: [PreparedKeys] = [],
    folding: [OrderedTableID: PendingKeys] = [:]
  ) {
    for one in keys { add(one, of: changes, over: folding[one.table]) }
    for (index, change) in changes.tables.enumerated() where !change.records.isEmpty {
      let file = index < files.count ? files[index] : FileState()
      tables.update(change.table, default: Table(fileGeneration: file.generation)) {
        $0.add(change.records, over: file, &batches)
      }
    }
    names.reserveRoom(for: changes.names.count)
    for name in changes.names {
      let old = names.updateValue(
        Entry(batch: name.range == nil ? nil : batches.count, range: name.range),
        forKey: ExactName(name.name))
      if let old, let batch = old.batch { batches.release(old.range.count, of: batch) }
    }
    if !changes.tables.isEmpty || !changes.names.isEmpty {
      batches.append(changes)
      // Checking everything is expensive, so it happens only at powers of two.
      let isTurn = batches.count & (batches.count - 1) == 0
      assert(!isTurn || isConsistent, "pending records and their bytes do not agree")
    }
    byteCount += changes.bytes.count
    isEmpty = false
    if batches.isWasteful { gather() }
  }

  private mutating func add(
    _ one: PreparedKeys, of changes: ChangeSet, over folding: @autoclosure () -> PendingKeys?
  ) {
    if case .large(let keys) = one.addition { return ordered[one.table] = keys }
    let save = changes.ordered[one.index]
    func new() -> PendingKeys { PendingKeys(over: folding(), one.fileGeneration) }
    if one.isLost, !save.clearsFirst, !(ordered[one.table] ?? new()).replacesFile { return }
    if case .small(let presence) = one.addition {
      ordered[one.table, default: new()].add(save, changes.bytes, presence: presence)
    } else {
      ordered[one.table, default: new()].addUncounted(save, changes.bytes)
    }
  }

  /// Adds the entry of the save that was added last to the pending changes of the history.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - folding: The changes of the history that are being folded.
  mutating func add(_ entry: CommitEntry, over folding: @autoclosure () -> PendingKeys?) {
    byteCount += entry.bytes.count
    ordered[entry.table, default: PendingKeys(over: folding(), entry.fileGeneration)]
      .append(entry.bytes, keyCount: HistoryFormat.keyCount)
  }

  /// Whether all rows and names have their bytes, and the byte counts are right.
  var isConsistent: Bool {
    var needed = 0
    let entries = tables.flatMap { $0.value.rows.map(\.value) } + Array(names.values)
    for entry in entries {
      guard let batch = entry.batch, !entry.range.isEmpty else { continue }
      guard batch < batches.count, entry.range.upperBound <= batches[batch].count else {
        return false
      }
      needed += entry.range.count
    }
    // A save that changes a row twice has more bytes than are needed.
    return batches.isConsistent && needed <= batches.neededCount
      && tables.allSatisfy { abs($0.value.countDifference) <= $0.value.rows.count }
  }

  /// Copies all needed bytes into one batch.
  private mutating func gather() {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(batches.neededCount)
    let kept = batches
    for id in tables.keys {
      tables[id]?.rows.mapInPlace { $0.moved(to: &bytes, from: kept) }
    }
    names.mapInPlace { $0.moved(to: &bytes, from: kept) }
    batches = PendingBytes(all: bytes)
  }

  /// The number of bytes of records and named buffers in memory.
  var heldByteCount: Int { batches.heldCount }

  /// Returns the bytes of an entry; nil if it is deleted.
  func bytes(of entry: Entry) -> Bytes? {
    entry.batch.map { Bytes(bytes: batches[$0], range: entry.range) }
  }

  /// A part of a batch.
  struct Bytes {
    let bytes: [UInt8]
    let range: Range<Int>
  }

  /// Returns the pending bytes of a row, or nil if it is deleted; nil if nothing is pending.
  func record(_ rowID: UInt32, in table: TableID) -> Bytes?? {
    guard let entry = tables[table]?.rows[rowID] else { return nil }
    return .some(bytes(of: entry))
  }

  /// Returns the pending bytes of a buffer, or nil if it is removed; nil if nothing is pending.
  func buffer(_ name: ExactName) -> Bytes?? {
    guard let entry = names[name] else { return nil }
    return .some(bytes(of: entry))
  }

  /// Subtracts rows that the files already have from the growth of the tables.
  ///
  /// It corrects the counts after saves were added without looking into the files.
  mutating func subtractRows(
    inFiles areInFile: ([UInt32], TableID) throws(StoreError) -> [Bool]
  ) throws(StoreError) {
    for (id, table) in tables {
      let found = try areInFile(table.rows.rowIDs, id)
      tables[id]?.countDifference -= found.count { $0 }
    }
  }

  /// Looks up which keys the files have, after saves were added without it.
  mutating func countKeys(
    over base: (OrderedTableID) throws(StoreError) -> OrderedBase?
  ) throws(StoreError) {
    for id in ordered.keys { try ordered[id]?.count(over: base(id)) }
  }

  /// Records that the files below the pending changes have been replaced.
  mutating func didFold(
    generation: (TableID) throws(StoreError) -> UInt64,
    orderedGeneration: (OrderedTableID) throws(StoreError) -> UInt64
  ) throws(StoreError) {
    for id in tables.keys { tables[id]?.fileGeneration = try generation(id) }
    for (id, keys) in ordered {
      let fileGeneration = try orderedGeneration(id)
      if fileGeneration != keys.fileGeneration {
        ordered[id]?.didFold(fileGeneration: fileGeneration)
      }
    }
  }

  /// The files that a checkpoint of these changes touches.
  var footprint: PendingFootprint {
    PendingFootprint(tables: tables.keys, hasNames: !names.isEmpty)
  }

  /// Returns all pending changes as one change set, with only the newest state of each row.
  func merged() -> ChangeSet {
    var merged = ChangeSet()
    merged.bytes.reserveCapacity(batches.neededCount)
    for (id, table) in tables {
      var records: [ChangeSet.RecordChange] = []
      records.reserveCapacity(table.rows.count)
      let rows = Array(table.rows)
      for index in KeyOrder.indices(of: rows.lazy.map(\.key)) {
        let (rowID, entry) = rows[index]
        let range = copy(entry, to: &merged.bytes)
        records.append(
          .init(kind: range == nil ? .delete : .update, rowID: rowID, range: range ?? 0..<0))
      }
      merged.tables.append(.init(table: id, records: records))
    }
    let names = Array(names)
    for index in ExactName.indicesInOrder(names.count, { names[$0].key.text }) {
      let (name, entry) = names[index]
      merged.names.append(.init(name: name.text, range: copy(entry, to: &merged.bytes)))
    }
    return merged
  }

  private func copy(_ entry: Entry, to bytes: inout [UInt8]) -> Range<Int>? {
    guard let batch = entry.batch else { return nil }
    let start = bytes.count
    bytes.append(contentsOf: batches[batch][entry.range])
    return start..<bytes.count
  }
}

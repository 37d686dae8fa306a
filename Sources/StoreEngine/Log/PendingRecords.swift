/// What the commit log holds beyond the class files: the newest state of each row and name in it.
///
/// A value: whoever reads takes a copy and is undisturbed by commits.
struct PendingRecords: Sendable {
  /// A row or a name as the log has it.
  ///
  /// It takes 16 bytes, because there may be millions.
  struct Entry: Sendable {
    private let start: Int
    private let count: UInt32
    /// Which batch has the bytes; the highest number if the row is deleted.
    private let batchNumber: UInt32
    private static let noBatch = UInt32.max

    /// - Precondition: there are fewer than 2^32 - 1 batches, and less than 4 GiB in the range.
    fileprivate init(batch: Int?, range: Range<Int>?) {
      // What is empty is nowhere, so that it can be read when its batch is gone.
      let range = range ?? 0..<0
      (start, count) = (range.isEmpty ? 0 : range.lowerBound, UInt32(range.count))
      batchNumber = batch.map { UInt32($0) } ?? Self.noBatch
    }

    fileprivate var batch: Int? { isDeleted ? nil : Int(batchNumber) }
    fileprivate var range: Range<Int> { start..<start + Int(count) }
    var isDeleted: Bool { batchNumber == Self.noBatch }

    /// The same with its bytes behind others, in the only batch.
    fileprivate func moved(to bytes: inout [UInt8], from batches: PendingBytes) -> Entry {
      guard let batch else { return self }
      let start = bytes.count
      bytes.append(contentsOf: batches[batch][range])
      return Entry(batch: 0, range: start..<bytes.count)
    }
  }

  /// What is pending of one table.
  struct Table: Sendable {
    var rows = PendingRows()
    /// How many more rows the table has than its file.
    var countDifference = 0
    /// The generation of that file.
    ///
    /// A later one has what is pending here, and the same rows.
    var fileGeneration: UInt64 = 0

    /// Adds what a save does to rows.
    ///
    /// - Parameters:
    ///   - records: The changes.
    ///   - file: What the file of the table is like.
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

    /// Sets what has happened to a row last, and returns what had before.
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

  /// What has to be known of a table's file before a save is added.
  struct FileState {
    /// How often the file has been replaced.
    var generation: UInt64 = 0
    /// For each change of the table whether the file has its row; empty where it has none of them.
    private var hasRows: [Bool] = []

    /// Of a file that has none of the rows.
    init(generation: UInt64 = 0) { self.generation = generation }

    /// Takes note that the file has the row of one of `count` changes.
    mutating func note(rowOf index: Int, of count: Int) {
      if hasRows.isEmpty { hasRows = Array(repeating: false, count: count) }
      hasRows[index] = true
    }

    /// Whether the file has the row of a change.
    func hasRow(of index: Int) -> Bool { !hasRows.isEmpty && hasRows[index] }
  }

  private(set) var tables = TableMap<Table>()
  private(set) var names: [ExactName: Entry] = [:]
  /// What is pending of ordered tables.
  private(set) var ordered: [OrderedTableID: PendingKeys] = [:]
  /// The bytes of the saves that have records or named buffers; the keys of ordered tables have
  /// theirs.
  private var batches = PendingBytes()
  /// The number of bytes that were saved.
  private(set) var byteCount = 0

  private(set) var isEmpty = true

  /// Adds a save to what is pending.
  ///
  /// - Parameters:
  ///   - changes: The save.
  ///   - files: What the files of its tables are like, in the order of the save; none for new ones.
  ///   - keys: What is pending, with the save, of the ordered tables that it changes.
  mutating func add(
    _ changes: ChangeSet, over files: [FileState],
    keys: [TableKeys] = []
  ) {
    for one in keys { ordered[one.table] = one.keys }
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
      // Looking at everything is for now and then.
      let isTurn = batches.count & (batches.count - 1) == 0
      assert(!isTurn || isConsistent, "pending records and their bytes do not agree")
    }
    byteCount += changes.bytes.count
    isEmpty = false
    if batches.isWasteful { gather() }
  }

  /// Whether all rows and names have their bytes, and these are counted.
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

  /// Copies all that is still needed into one batch.
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

  /// How many bytes of records and named buffers are held in memory.
  var heldByteCount: Int { batches.heldCount }

  /// Where the bytes of an entry are; nil for one that is deleted.
  func bytes(of entry: Entry) -> Bytes? {
    entry.batch.map { Bytes(bytes: batches[$0], range: entry.range) }
  }

  /// A part of a batch.
  struct Bytes {
    let bytes: [UInt8]
    let range: Range<Int>
  }

  /// What is pending of a row: its bytes, or nil when it is deleted; nil when nothing is pending.
  func record(_ rowID: UInt32, in table: TableID) -> Bytes?? {
    guard let entry = tables[table]?.rows[rowID] else { return nil }
    return .some(bytes(of: entry))
  }

  /// The pending bytes of a buffer, or nil when it is removed; nil when nothing is pending.
  func buffer(_ name: ExactName) -> Bytes?? {
    guard let entry = names[name] else { return nil }
    return .some(bytes(of: entry))
  }

  /// Takes rows that the files have out of the number by which tables have grown, where saves were
  /// added without a look into the files.
  mutating func subtractRows(
    inFiles areInFile: ([UInt32], TableID) throws(StoreError) -> [Bool]
  ) throws(StoreError) {
    for (id, table) in tables {
      let found = try areInFile(table.rows.rowIDs, id)
      tables[id]?.countDifference -= found.count { $0 }
    }
  }

  /// Takes note that files have been replaced that what is pending here lies over.
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

  /// Which files folding touches.
  var footprint: PendingFootprint {
    PendingFootprint(tables: tables.keys, hasNames: !names.isEmpty)
  }

  /// Everything that is pending as one change set, the newest state of each row only.
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
    for index in ExactName.indicesInOrder(names.map(\.key.text)) {
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

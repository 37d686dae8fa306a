import StoreEngine

/// Rows whose objects will be requested one after the other, with their records.
///
/// The records are read together, in the order of the file. They are valid until any store commits
/// to the class. After that each row is looked up when its turn comes, as without this type.
struct RowsAhead {
  private let store: Store
  private let entry: RegisteredClass
  private var rows: [UInt32] = []
  private var next = 0
  private var batch = RecordBatch()
  /// Holds the bytes of the batch, and reads the records in place.
  private var buffer: DataBuffer
  /// The index of each row's record in the batch, or ``unread``.
  private var records: [UInt32] = []
  private static let unread = UInt32.max
  /// The number of commits of the class before the batch was read.
  private var commitCount: UInt64 = 0

  /// Whether no other store can have committed before the records were read.
  private var wasAlone = false
  /// Whether the last object was read separately, later than the others.
  private var wasReadAlone = false

  /// The maximum number of rows that a query reads together.
  static let greatestCount = 256

  init(_ store: Store, _ entry: RegisteredClass) {
    (self.store, self.entry) = (store, entry)
    buffer = DataBuffer([], store: store)
    batch.stopsWhenFull = true
  }

  /// Whether all rows have had their turn.
  var isEmpty: Bool { next == rows.count }

  /// Sets the rows, and reads the records of those whose objects have no content yet.
  ///
  /// Ignores errors: ``takeObject()`` throws them at their row.
  mutating func fill(_ rows: [UInt32]) {
    (self.rows, next) = (rows, 0)
    defer { wasAlone = store.backend.coordinator.isAlone }
    records.removeAll(keepingCapacity: true)
    records.append(contentsOf: repeatElement(Self.unread, count: rows.count))
    // The row and its index in one integer, which is fast to sort.
    var order: [UInt64] = []
    order.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() where entry.mayHave(row) {
      if entry.living(row)?.hasContent != true { order.append(UInt64(row) << 32 | UInt64(index)) }
    }
    if order.count < 2 { return }
    order.sort()
    read(order.map { UInt32($0 >> 32) })
    assign(order)
  }

  private mutating func read(_ rows: [UInt32]) {
    commitCount = entry.shared.commitCount
    buffer.swapBytes(&batch.bytes)
    defer { buffer.swapBytes(&batch.bytes) }
    batch.removeAll()
    do {
      try store.backend.copyRecords(rows, of: entry.table, to: &batch)
    } catch {
      batch.removeAll()
    }
  }

  /// Assigns the records to their rows; both are sorted.
  private mutating func assign(_ order: [UInt64]) {
    var record = 0
    for number in order {
      let row = UInt32(number >> 32)
      while record < batch.count, batch.entries[record].rowID < row { record += 1 }
      if record == batch.count { return }
      if batch.entries[record].rowID == row {
        records[Int(number & 0xFFFF_FFFF)] = UInt32(record)
      }
    }
  }

  /// Returns the object of the next row with its content; nil if there is no such object.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``Store/object(_:rowID:)-(Object.Type,_)``.
  mutating func takeObject() throws(StoreError) -> StoredObject? {
    let (row, record) = (rows[next], records[next])
    next += 1
    wasReadAlone = record == Self.unread || !isCurrent
    if wasReadAlone { return try store.object(entry, rowID: row) }
    let object = entry.object(row)
    if !object.state.isFault { return object.state.contains(.deleted) ? nil : object }
    let (_, start, end) = batch.entries[Int(record)]
    // If readContent(from:) has replaced the buffer, the remaining rows are read one by one.
    guard buffer.showWindow(Int(start), Int(end)) else {
      wasReadAlone = true
      return try store.object(entry, rowID: row)
    }
    store.forgetKnownChange(row, entry)
    try store.decode(object, entry, from: &buffer)
    return object
  }

  /// Whether the last object taken is as it was saved when the rows were set.
  ///
  /// Valid only if no store has committed to the class since then.
  var isUndisturbed: Bool {
    (wasReadAlone ? store.backend.coordinator.isAlone : wasAlone)
      && store.foreign.outdated.isEmpty
  }

  /// Whether the records are still current.
  ///
  /// Changes of other stores are collected first: a commit after this check stays pending, and a
  /// change based on the records becomes a conflict.
  private var isCurrent: Bool {
    if store.inbox.hasNews { store.collectChangesElsewhere() }
    return commitCount == entry.shared.commitCount
  }
}

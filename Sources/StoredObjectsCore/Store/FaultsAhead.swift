import StoreEngine

/// Records of faults that were read together with another fault's record.
///
/// Used where each read is a round trip to a server. Most faults are elements of a list that is being
/// walked: once one of them is read, others will be. A record is valid until the
/// store is notified that another store has saved its row, and until the store's own next save.
final class FaultsAhead {
  /// The initial number of records in a batch.
  private static let leastCount = 16
  /// The initial number of records of elements of a list.
  ///
  /// Most lists are not longer, so walking one takes one round trip.
  private static let leastCountInList = 128

  private var batch = RecordBatch(limits: .walk)
  /// The indexes of the unused records in the batch, by row ID.
  private var numbers: [UInt32: Int] = [:]
  /// The number of records in the next batch; nil before the first one.
  private var nextCount: Int?
  /// The rows of the latest faults, in order of their creation.
  ///
  /// A list creates the faults of its elements in its own order.
  private var made: [UInt32] = []
  private static let madeCount = 8192
  /// The list whose element was accessed last, and the index of the element.
  private var list: (rows: [UInt32], index: Int) = ([], 0)
  private var isBackwards = false
  private var lists = ListsAhead()

  init() { batch.stopsWhenFull = true }

  /// Remembers that a fault was made.
  func note(_ rowID: UInt32) {
    if made.count == Self.madeCount { made.removeFirst(Self.madeCount / 2) }
    made.append(rowID)
  }

  /// Remembers that an element of a list was accessed.
  ///
  /// A loop over a list retains one object at a time, so there are no faults of the others.
  func note(_ rows: [UInt32], _ index: Int) {
    // Another list of the same size begins at a lower index, too.
    isBackwards = index < list.index && rows == list.rows
    list = (rows, index)
  }

  /// Remembers that a list was read from a record.
  func noteRead(_ list: [UInt32]) { lists.note(list) }

  /// Returns the rows that follow a row in the list, if it was accessed last, and in the lists that a
  /// loop will walk next.
  private func rowsInList(after rowID: UInt32, _ entry: RegisteredClass) -> [UInt32] {
    guard list.rows.indices.contains(list.index), list.rows[list.index] == rowID else { return [] }
    let count = nextCount ?? Self.leastCountInList
    var rest =
      isBackwards
      ? Array(list.rows[..<list.index].suffix(count - 1).reversed())
      : Array(list.rows[(list.index + 1)...].prefix(count - 1))
    if !isBackwards { rest += lists.rows(after: list.rows, atMost: count - 1 - rest.count) }
    return rest.filter { $0 != rowID && (entry.living($0)?.state.isFault ?? true) }
  }

  /// Reads the record of a row into a buffer.
  ///
  /// - Returns: false if the row has no record.
  func read(
    _ rowID: UInt32, _ entry: RegisteredClass, _ backend: any StoreBackend,
    into buffer: inout DataBuffer
  ) throws(StoreError) -> Bool {
    if take(rowID, into: &buffer) { return true }
    adjustCount()
    var others = rowsInList(after: rowID, entry)
    if others.isEmpty {
      let count = nextCount ?? Self.leastCount
      others = entry.faults(near: rowID, among: made, atMost: count - 1)
    }
    removeAll()
    try backend.copyRecords([rowID] + others, of: entry.table, to: &batch)
    for (number, record) in batch.entries.enumerated() { numbers[record.rowID] = number }
    return take(rowID, into: &buffer)
  }

  private func take(_ rowID: UInt32, into buffer: inout DataBuffer) -> Bool {
    guard let number = numbers.removeValue(forKey: rowID) else { return false }
    let record = batch.entries[number]
    buffer.fill(with: batch.bytes[Int(record.start)..<Int(record.end)])
    return true
  }

  /// Enlarges the next batch if at least half of the last one was used, and resets it otherwise.
  private func adjustCount() {
    if batch.count == 0 { return }
    let wereUsed = numbers.count * 2 <= batch.count
    let most = batch.limits.bytes / max(batch.bytes.count / batch.count, 1)
    let count =
      wereUsed ? max(nextCount ?? Self.leastCount, batch.count) * 16 : Self.leastCount
    nextCount = max(min(count, most, batch.limits.records), Self.leastCount)
  }

  /// Forgets rows that another store has saved.
  func remove(_ news: ForeignNews.Table) {
    for rows in [news.changed, news.written, news.deleted] { rows.forEach { numbers[$0] = nil } }
  }

  /// Forgets all records; called when the store saves.
  func removeAll() {
    batch.removeAll()
    numbers.removeAll(keepingCapacity: true)
  }
}

extension RegisteredClass {
  /// Returns the rows of faults made after a fault, then of those made before it, nearest first.
  ///
  /// Complexity: linear in the number of faults that are remembered.
  fileprivate func faults(near rowID: UInt32, among made: [UInt32], atMost count: Int) -> [UInt32] {
    guard let place = made.lastIndex(of: rowID) else { return [] }
    let others = [made[place...].dropFirst(), ArraySlice(made[..<place].reversed())]
    return Array(
      others.joined().lazy
        .filter { self.living($0)?.state.isFault == true && $0 != rowID }.prefix(count))
  }
}

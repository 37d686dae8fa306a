import StoreEngine

/// Records of faults that were read together with that of another one, where each read is a round
/// trip to a server.
///
/// Most faults in memory are the elements of a list, which is walked: when one of them is read, so
/// are others. A record counts until the store hears that somebody else has saved its row, and until
/// the store's own next save.
final class FaultsAhead {
  /// How many are read together at first.
  private static let leastCount = 16

  private var batch = RecordBatch(limits: .walk)
  /// The numbers of the records in the batch, by row, until they are used.
  private var numbers: [UInt32: Int] = [:]
  private var count = leastCount
  /// The rows of the faults that were made last, in their order: a list makes those of its elements
  /// in its own.
  private var made: [UInt32] = []
  private static let madeCount = 8192

  init() { batch.stopsWhenFull = true }

  /// Remembers that a fault was made.
  func note(_ rowID: UInt32) {
    if made.count == Self.madeCount { made.removeFirst(Self.madeCount / 2) }
    made.append(rowID)
  }

  /// Reads the record of a row into a buffer.
  ///
  /// - Returns: false if there is none.
  func read(
    _ rowID: UInt32, _ entry: RegisteredClass, _ backend: any StoreBackend,
    into buffer: inout DataBuffer
  ) throws(StoreError) -> Bool {
    if take(rowID, into: &buffer) { return true }
    adjustCount()
    let rows = [rowID] + entry.faults(near: rowID, among: made, atMost: count - 1)
    removeAll()
    try backend.copyRecords(rows, of: entry.table, to: &batch)
    for (number, record) in batch.entries.enumerated() { numbers[record.rowID] = number }
    return take(rowID, into: &buffer)
  }

  private func take(_ rowID: UInt32, into buffer: inout DataBuffer) -> Bool {
    guard let number = numbers.removeValue(forKey: rowID) else { return false }
    let record = batch.entries[number]
    buffer.fill(with: batch.bytes[Int(record.start)..<Int(record.end)])
    return true
  }

  /// Reads more at once if at least half of the last records were used, and few otherwise.
  private func adjustCount() {
    if batch.count == 0 { return }
    let wereUsed = numbers.count * 2 <= batch.count
    count = wereUsed ? min(count * 16, batch.limits.records) : Self.leastCount
  }

  /// Forgets rows that somebody else has saved.
  func remove(_ news: ForeignNews.Table) {
    for rows in [news.changed, news.written, news.deleted] { rows.forEach { numbers[$0] = nil } }
  }

  /// Forgets all records, when the store saves.
  func removeAll() {
    batch.removeAll()
    numbers.removeAll(keepingCapacity: true)
  }
}

extension RegisteredClass {
  /// The rows of the faults that were made after one, then of those made before it, nearest first.
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

import Files
import Locks

/// The records of a batch, opened one after another.
struct OpenedRecords: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var entries: [RecordBatch.Entry] = []
  private(set) var failures: [StoreError] = []

  /// The least number of records that is worth a second thread.
  private static let sharedFrom = 512

  /// Opens the records of a batch, half of them on a second thread if there are many.
  ///
  /// If the batch keeps failures, records that can't be opened become failures of the batch.
  ///
  /// - Throws: ``StoreError`` with `notAuthentic` for the first such record otherwise.
  static func open(
    _ batch: inout RecordBatch, in scope: SealedLocation.Scope, by sealing: Sealing,
    _ error: @escaping @Sendable (_ rowID: UInt32) -> StoreError.Location
  ) throws(StoreError) {
    let sealed = batch
    let all = sealed.entries.indices
    var opened: OpenedRecords
    if all.count < sharedFrom {
      opened = try OpenedRecords(all, of: sealed, in: scope, by: sealing, error)
    } else {
      let (first, second) = try TwoThreads.halves(of: all) { (half) throws(StoreError) in
        try OpenedRecords(half, of: sealed, in: scope, by: sealing, error)
      }
      opened = first
      opened.append(second)
    }
    (batch.bytes, batch.entries) = (opened.bytes, opened.entries)
    batch.failures += opened.failures
  }

  private init(
    _ part: Range<Int>, of batch: RecordBatch, in scope: SealedLocation.Scope, by sealing: Sealing,
    _ error: (_ rowID: UInt32) -> StoreError.Location
  ) throws(StoreError) {
    // The other parts are appended to the first.
    let isFirst = part.lowerBound == 0
    bytes.reserveCapacity(isFirst ? batch.bytes.count : batch.bytes.count / 2)
    entries.reserveCapacity(isFirst ? batch.entries.count : part.count)
    for (rowID, start, end) in batch.entries[part] {
      let newStart = UInt32(bytes.count)
      do {
        try batch.bytes.lend(Int(start)..<Int(end)) { (sealed) throws(StoreError) in
          try sealing.open(sealed, sealing.location(rowID, in: scope), to: &bytes) { error(rowID) }
        }
        entries.append((rowID, newStart, UInt32(bytes.count)))
      } catch  where batch.keepsFailures {
        failures.append(error)
      }
    }
  }

  private mutating func append(_ other: OpenedRecords) {
    let shift = UInt32(bytes.count)
    bytes += other.bytes
    entries += other.entries.lazy.map { ($0.rowID, $0.start + shift, $0.end + shift) }
    failures += other.failures
  }
}

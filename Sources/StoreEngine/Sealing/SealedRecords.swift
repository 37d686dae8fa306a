import Files
import Locks

/// The records of one table, sealed one after another.
struct SealedRecords: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var records: [ChangeSet.RecordChange] = []

  /// The least number of records that is worth a second thread.
  private static let sharedFrom = 4096

  /// Seals records, half of them on a second thread if there are many.
  static func seal(
    _ records: [ChangeSet.RecordChange], of changes: ChangeSet, in scope: SealedLocation.Scope,
    by sealing: Sealing
  ) throws(StoreError) -> SealedRecords {
    guard records.count >= sharedFrom else {
      return try SealedRecords(records[...], of: changes, in: scope, by: sealing)
    }
    var (sealed, rest) = try TwoThreads.halves(of: records.indices) { (half) throws(StoreError) in
      try SealedRecords(records[half], of: changes, in: scope, by: sealing)
    }
    sealed.append(rest)
    return sealed
  }

  private init(
    _ part: ArraySlice<ChangeSet.RecordChange>, of changes: ChangeSet,
    in scope: SealedLocation.Scope, by sealing: Sealing
  ) throws(StoreError) {
    let plainCount = part.reduce(0) { $0 + $1.range.count }
    bytes.reserveCapacity(plainCount + part.count * sealing.seal.overhead)
    records.reserveCapacity(part.count)
    for record in part {
      let start = bytes.count
      if record.kind != .delete {
        let location = sealing.location(record.rowID, in: scope)
        try changes.bytes.lend(record.range) { (plain) throws(StoreError) in
          try sealing.seal.seal(plain, at: location, to: &bytes)
        }
      }
      records.append(.init(kind: record.kind, rowID: record.rowID, range: start..<bytes.count))
    }
  }

  private mutating func append(_ other: SealedRecords) {
    records += other.records(behind: bytes.count)
    bytes += other.bytes
  }

  /// Returns the records with their ranges moved by a number of bytes that precede them.
  func records(behind count: Int) -> [ChangeSet.RecordChange] {
    count == 0 ? records : records.map { $0.moved(by: count) }
  }
}

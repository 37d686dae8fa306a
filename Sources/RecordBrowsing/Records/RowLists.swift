import Locks
import StoreEngine
import StoredObjectsCore

/// The position of a page of rows in the order of row IDs.
package enum RowPosition: Sendable, Equatable {
  /// The rows after a row; 0 for the first ones.
  case after(UInt32)
  /// The rows before a row; the greatest number for the last ones.
  case before(UInt32)
}

extension BrowsedState {
  /// The number of rows that are looked up together.
  static let batchRows = 256

  /// Returns the next rows of a class that exist, in ascending order.
  ///
  /// Complexity: linear in the rows that are looked up. A class with many gaps is scanned once.
  func rows(of known: BrowsedClass, _ position: RowPosition, limit: Int) throws(StoreError)
    -> [UInt32]
  {
    try records(of: known, position, limit: limit, maximumLookUps: .max).rows.map(\.rowID)
  }

  /// Returns the next records of a class in ascending order, and the last row that was looked up;
  /// nil at the end.
  func records(
    of known: BrowsedClass, _ position: RowPosition, limit: Int, maximumLookUps: Int
  ) throws(StoreError) -> (rows: [(rowID: UInt32, bytes: [UInt8])], last: UInt32?) {
    if let sparse = try sparseRows(of: known) {
      let rows = Self.page(of: sparse, position, limit: limit)
      let found = try self.records(rows, known)
      let isEnd = rows.count < limit
      return (found, isEnd ? nil : (rows.last ?? 0))
    }
    switch position {
    case .after(let row): return try ascending(known, row, limit, maximumLookUps)
    case .before(let row): return try descending(known, row, limit)
    }
  }

  private func ascending(
    _ known: BrowsedClass, _ row: UInt32, _ limit: Int, _ maximumLookUps: Int
  ) throws(StoreError) -> (rows: [(rowID: UInt32, bytes: [UInt8])], last: UInt32?) {
    let end = UInt64(known.metadata?.lastRowID ?? 1)
    var found: [(rowID: UInt32, bytes: [UInt8])] = []
    var next = UInt64(max(row, 1)) + 1
    var lookUps = 0
    while next <= end {
      if found.count >= limit || lookUps >= maximumLookUps { break }
      let size = min(Self.batchRows, max(16, limit - found.count))
      let upper = min(end, next + UInt64(size) - 1)
      found += try records((next...upper).map { UInt32($0) }, known)
      lookUps += size
      next = upper + 1
    }
    if found.count > limit {
      found.removeLast(found.count - limit)
      return (found, found.last?.rowID)
    }
    return (found, next > end ? nil : UInt32(next - 1))
  }

  private func descending(
    _ known: BrowsedClass, _ row: UInt32, _ limit: Int
  ) throws(StoreError) -> (rows: [(rowID: UInt32, bytes: [UInt8])], last: UInt32?) {
    var found: [(rowID: UInt32, bytes: [UInt8])] = []
    var next = min(UInt64(row), UInt64(known.metadata?.lastRowID ?? 1) + 1)
    while next > 2, found.count < limit {
      let size = UInt64(min(Self.batchRows, max(16, limit - found.count)))
      let lower = next > size + 2 ? next - size : 2
      found = try records((lower..<next).map { UInt32($0) }, known) + found
      next = lower
    }
    if found.count > limit {
      found.removeFirst(found.count - limit)
      return (found, found.first?.rowID)
    }
    return (found, next > 2 ? UInt32(next) : nil)
  }

  /// Returns copies of the records of some rows; rows that don't exist are left out.
  ///
  /// A record that can't be opened is empty, and so is reported as damaged when it is read.
  func records(
    _ rows: [UInt32], _ known: BrowsedClass
  ) throws(StoreError) -> [(rowID: UInt32, bytes: [UInt8])] {
    var batch = RecordBatch()
    do throws(StoreError) {
      try backend.copyRecords(rows, of: known.table, to: &batch)
      return batch.records
    } catch {
      guard error.code == .damaged || error.code == .notAuthentic else { throw error }
      return rows.compactMap { row in
        var bytes: [UInt8] = []
        do throws(StoreError) {
          return try backend.copyRecord(row, in: known.table, to: &bytes) ? (row, bytes) : nil
        } catch {
          return (row, [])
        }
      }
    }
  }

  /// Returns all rows of a class with so many gaps that looking up each row would take long; nil
  /// for any other class.
  private func sparseRows(of known: BrowsedClass) throws(StoreError) -> [UInt32]? {
    // Without a metadata row, the last row is not known.
    let last = known.metadata.map { Int($0.lastRowID) } ?? .max
    guard last > 16 * known.objectCount + 10_000 else { return nil }
    if let known = findings.withLock({ $0.rows[known.name] }) { return known }
    var rows: [UInt32] = []
    _ = try backend.scan(known.table, from: nil) { rowID, _ in
      if rowID > ClassMetadata.rowID { rows.append(rowID) }
      return .next
    }
    rows.sort()
    let sorted = rows
    findings.withLock { $0.rows[known.name] = sorted }
    return sorted
  }

  private static func page(of rows: [UInt32], _ position: RowPosition, limit: Int) -> [UInt32] {
    switch position {
    case .after(let row): Array(rows[firstIndex(in: rows) { $0 > row }...].prefix(limit))
    case .before(let row): Array(rows[..<firstIndex(in: rows) { $0 >= row }].suffix(limit))
    }
  }

  /// Returns the first index whose row satisfies a condition that holds for all later rows.
  private static func firstIndex(in rows: [UInt32], _ holds: (UInt32) -> Bool) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(rows[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

import StoreEngine

/// Finds rows with the same values in a unique index that has not been built.
///
/// It takes 16 bytes for each object: a hash of the values, and the row.
struct DuplicateSearch {
  private var entries: [(hash: UInt64, row: UInt32)] = []

  /// Adds the key of an object.
  mutating func add(_ key: [UInt8], row: UInt32) {
    // FNV-1a. Rows with the same hash are compared by their values.
    let hash = key.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    entries.append((hash, row))
  }

  /// Finds the first row with the values of an earlier row.
  ///
  /// Returns that row, the earlier row, and the number of such rows. The closure returns the key of
  /// a row.
  func first(_ key: (UInt32) -> [UInt8]?) -> (row: UInt32, other: UInt32, count: Int)? {
    let sorted = entries.sorted { ($0.hash, $0.row) < ($1.hash, $1.row) }
    var found: (row: UInt32, other: UInt32, count: Int)?
    var start = 0
    while start < sorted.count {
      let end = sorted[start...].firstIndex { $0.hash != sorted[start].hash } ?? sorted.count
      if end > start + 1 { Self.compare(sorted[start..<end].map(\.row), key, &found) }
      start = end
    }
    return found
  }

  private static func compare(
    _ rows: [UInt32], _ key: (UInt32) -> [UInt8]?,
    _ found: inout (row: UInt32, other: UInt32, count: Int)?
  ) {
    var firstRows: [[UInt8]: UInt32] = [:]
    for row in rows {
      guard let key = key(row) else { continue }
      guard let other = firstRows[key] else {
        firstRows[key] = row
        continue
      }
      let count = (found?.count ?? 0) + 1
      let isFirst = found.map { row < $0.row } ?? true
      found = isFirst ? (row, other, count) : (found?.row ?? row, found?.other ?? other, count)
    }
  }
}

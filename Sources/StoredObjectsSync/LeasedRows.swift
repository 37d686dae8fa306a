import Locks
import StoreEngine
import Synchronization

/// The row IDs that a device may give out, by class.
///
/// A server never leases a row ID twice, so objects that devices insert without a network never get
/// the same row.
final class LeasedRows: Sendable {
  private let leases = Locked<[String: [ClosedRange<UInt32>]]>([:])

  /// Makes the inserts of a class take row IDs from the leases.
  func attach(to backend: any StoreBackend, _ className: String) throws(StoreError) {
    let table = backend.coordinator.table(try backend.table(named: className))
    backend.coordinator.leasesRows.store(true, ordering: .releasing)
    table.useBlocks(size: 0) { [weak self] (count) throws(StoreError) in
      guard let self else {
        throw StoreError(
          .rowIDsExhausted, "The store belongs to a device: keep its SyncClient.",
          at: .init(className: className))
      }
      return try take(count, of: className)
    }
  }

  /// Replaces the leases of a class.
  func set(_ rows: [ClosedRange<UInt32>], of className: String) {
    leases.withLock { $0[className] = rows }
  }

  /// Adds a lease.
  func add(_ lease: RowLease) {
    leases.withLock { $0[lease.className, default: []].append(lease.rows) }
  }

  /// The row IDs that are left, by class.
  var all: [String: [ClosedRange<UInt32>]] { leases.withLock { $0 } }

  /// Returns the number of row IDs that are left.
  func count(of className: String) -> Int {
    leases.withLock { $0[className]?.reduce(0) { $0 + $1.count } ?? 0 }
  }

  /// Takes row IDs that follow each other; nil if fewer do.
  private func take(_ count: Int, of className: String) throws(StoreError) -> ClosedRange<UInt32>? {
    let taken = leases.withLock { leases -> ClosedRange<UInt32>? in
      guard let index = leases[className]?.firstIndex(where: { $0.count >= count }),
        let rows = leases[className]?[index]
      else { return nil }
      let end = rows.lowerBound + UInt32(count) - 1
      if end == rows.upperBound {
        leases[className]?.remove(at: index)
      } else {
        leases[className]?[index] = end + 1...rows.upperBound
      }
      return rows.lowerBound...end
    }
    if taken == nil, count == 1 {
      throw StoreError(
        .rowIDsExhausted,
        """
        The device has no row IDs of the class left. Call sync(), or ask for more with \
        SyncConfiguration.rowsAhead.
        """, at: .init(className: className))
    }
    return taken
  }
}

extension [ClosedRange<UInt32>] {
  /// The ranges without the row IDs up to one that is in use.
  func after(_ rowID: UInt32) -> [ClosedRange<UInt32>] {
    compactMap { rows in
      guard rows.contains(rowID) else { return rows }
      return rowID == rows.upperBound ? nil : rowID + 1...rows.upperBound
    }
  }
}

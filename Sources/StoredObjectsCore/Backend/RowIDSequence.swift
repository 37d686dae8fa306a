import Synchronization

/// Hands out the row IDs of one table, each once, to any number of stores.
final class RowIDSequence: Sendable {
  /// The last row ID handed out, or found in the table. Objects start at row 2.
  private let last = Atomic<UInt64>(1)

  /// The last row ID handed out.
  var lastRowID: UInt32 { UInt32(clamping: last.load(ordering: .acquiring)) }

  /// The next row ID, or nil when there is none left.
  func next() -> UInt32? {
    let value = last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    return UInt32(exactly: value)
  }

  /// Makes sure that no row ID up to this one is handed out.
  func advance(past rowID: UInt32) {
    _ = last.max(UInt64(rowID), ordering: .acquiringAndReleasing)
  }
}

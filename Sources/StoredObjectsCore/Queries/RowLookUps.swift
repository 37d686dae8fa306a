import StoreEngine

/// Row numbers to look up one by one, for a query that wants the first few objects in row order.
///
/// The look-ups end when so many of them found nothing that a scan would have been faster.
struct RowLookUps {
  private(set) var row: UInt32
  private let last: UInt32
  private var rest: Int

  /// Starts after a row; returns nil if more look-ups are wanted than are worth it.
  init?(after row: UInt32, _ entry: RegisteredClass, wanted: Int, budget: Int) {
    guard wanted <= budget else { return nil }
    (self.row, last, rest) = (max(row, ClassMetadata.rowID), entry.shared.lastRowID, budget)
  }

  /// Whether there is no row left.
  var isAtEnd: Bool { row >= last }

  /// Returns the next row to look up, which may not exist.
  ///
  /// Returns nil at the end, and when further look-ups are not worth it.
  mutating func next() -> UInt32? {
    guard row < last, rest > 0 else { return nil }
    rest -= 1
    row += 1
    return row
  }
}

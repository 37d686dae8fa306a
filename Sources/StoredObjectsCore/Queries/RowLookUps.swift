import StoreEngine

/// Looks up one row after the other, for a query that wants the first few objects in the order of
/// the rows.
///
/// It gives up when so many rows were looked at in vain that reading all of them would have been
/// quicker.
struct RowLookUps {
  private(set) var row: UInt32
  private let last: UInt32
  private var rest: Int

  /// Begins behind a row; nil where more look-ups are wanted than are worth it.
  init?(after row: UInt32, _ entry: RegisteredClass, wanted: Int, budget: Int) {
    guard wanted <= budget else { return nil }
    (self.row, last, rest) = (max(row, ClassMetadata.rowID), entry.shared.lastRowID, budget)
  }

  /// Whether there is no row left.
  var isAtEnd: Bool { row >= last }

  /// The next row to look up, which need not be there; nil at the end, and when it is not worth it
  /// any more.
  mutating func next() -> UInt32? {
    guard row < last, rest > 0 else { return nil }
    rest -= 1
    row += 1
    return row
  }
}

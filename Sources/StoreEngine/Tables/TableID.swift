/// A backend's short name for one of its tables.
///
/// A table holds the records of one class. The number is meaningful only to the backend that
/// assigned it, and only until that backend is closed.
public struct TableID: Hashable, Sendable {
  /// The backend's own number for the table, from 0.
  public let index: Int

  /// Creates the ID of the table with this number.
  public init(index: Int) { self.index = index }
}

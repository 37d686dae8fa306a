/// Keeps other processes from committing during a turn.
package struct ProcessOrder: Sendable {
  /// Lets other processes come first that have waited for long.
  let yield: @Sendable () -> Void
  /// Waits for the other processes, and finds out what they have committed.
  let begin: @Sendable () throws(StoreError) -> Void
  /// Lets them go on.
  let end: @Sendable () -> Void
  /// Takes row IDs of a table that no other process gets; nil where there are too few.
  let takeRows:
    @Sendable (_ table: TableID, _ count: Int) throws(StoreError)
      -> ClosedRange<UInt32>?
  /// Begins or ends to find out at once what others commit.
  let observe: @Sendable (_ begins: Bool) -> Void
  /// The number of the last commit, as a server says that keeps nobody from committing; nil where
  /// others wait during a turn.
  var lastNumber: (@Sendable () throws(StoreError) -> UInt64)?
  /// Whether this process never commits.
  var isReadOnly = false
  /// Whether a server orders the commits.
  var isOfServer = false
}

extension ProcessOrder {
  /// The order of a server, which refuses what others have been quicker with.
  ///
  /// - Parameters:
  ///   - isReadOnly: Whether this process never commits.
  ///   - lastNumber: Asks for the number of the last commit.
  ///   - takeRows: Takes row IDs that nobody else gets; nil where there are too few.
  ///   - observe: Begins or ends to find out at once what others commit.
  package init(
    ofServer isReadOnly: Bool,
    lastNumber: @escaping @Sendable () throws(StoreError) -> UInt64,
    takeRows: @escaping @Sendable (TableID, Int) throws(StoreError) -> ClosedRange<UInt32>?,
    observe: @escaping @Sendable (Bool) -> Void
  ) {
    self.init(
      yield: {}, begin: { () throws(StoreError) in }, end: {}, takeRows: takeRows,
      observe: observe, lastNumber: isReadOnly ? nil : lastNumber, isReadOnly: isReadOnly,
      isOfServer: true)
  }
}

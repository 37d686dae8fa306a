/// The operations that keep other processes from committing during a turn.
package final class ProcessOrder: Sendable {
  /// Lets other processes go first if they have waited for long.
  let yield: @Sendable () -> Void
  /// Waits for the other processes, and finds out what they have committed.
  let begin: @Sendable () throws(StoreError) -> Void
  /// Lets the other processes continue.
  let end: @Sendable () -> Void
  /// Reserves row IDs of a table that no other process gets; nil if there are too few.
  let takeRows:
    @Sendable (_ table: TableID, _ count: Int) throws(StoreError)
      -> ClosedRange<UInt32>?
  /// Starts or stops immediate detection of commits by others.
  let observe: @Sendable (_ begins: Bool) -> Void
  /// Returns the number of the last commit, for a server that keeps nobody from committing; nil if
  /// others wait during a turn.
  let lastNumber: (@Sendable () throws(StoreError) -> UInt64)?
  /// Whether this process never commits.
  let isReadOnly: Bool
  /// Whether a server orders the commits.
  let isOfServer: Bool

  init(
    yield: @escaping @Sendable () -> Void,
    begin: @escaping @Sendable () throws(StoreError) -> Void,
    end: @escaping @Sendable () -> Void,
    takeRows: @escaping @Sendable (TableID, Int) throws(StoreError) -> ClosedRange<UInt32>?,
    observe: @escaping @Sendable (Bool) -> Void,
    lastNumber: (@Sendable () throws(StoreError) -> UInt64)? = nil, isReadOnly: Bool = false,
    isOfServer: Bool = false
  ) {
    (self.yield, self.begin, self.end) = (yield, begin, end)
    (self.takeRows, self.observe, self.lastNumber) = (takeRows, observe, lastNumber)
    (self.isReadOnly, self.isOfServer) = (isReadOnly, isOfServer)
  }
}

extension ProcessOrder {
  /// Creates the order of a server, which refuses a commit when another one came first.
  ///
  /// - Parameters:
  ///   - isReadOnly: Whether this process never commits.
  ///   - lastNumber: Returns the number of the last commit.
  ///   - takeRows: Reserves row IDs that nobody else gets; nil if there are too few.
  ///   - observe: Starts or stops immediate detection of commits by others.
  package convenience init(
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

import StoreEngine

/// The changes of ``LiveResults``, one after the other; see ``LiveResults/changes()``.
///
/// The sequence belongs to the isolation domain of its store, and retains its results. It ends when
/// its task is cancelled. Iterate over it once.
public struct ResultsChanges<Object: StoredObject>: AsyncSequence {
  private let queue: ResultsQueue
  private let wakeups: AsyncStream<Void>

  init(_ query: ResultsQuery) {
    queue = ResultsQueue(query)
    wakeups = query.wakeups()
  }

  /// Removes and returns the changes that are available without waiting.
  package func takePending() -> [ResultsChange<Object>] {
    var changes: [ResultsChange<Object>] = []
    while let change = queue.next() {
      changes.append(ResultsChange(change, QueryClassNames(queue.query.source)))
    }
    return changes
  }

  /// An iterator that waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let queue: ResultsQueue
    fileprivate var wakeups: AsyncStream<Void>.AsyncIterator

    /// Waits for the next change and returns it; nil once the task is cancelled.
    ///
    /// Complexity: linear in the number of changed objects, plus the time to update the results.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> ResultsChange<Object>? {
      while true {
        if let change = queue.next() {
          return ResultsChange(change, QueryClassNames(queue.query.source))
        }
        guard await wakeups.next(isolation: actor) != nil else { return nil }
      }
    }
  }

  /// Returns an iterator that starts with the first change that has not been consumed.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(queue: queue, wakeups: wakeups.makeAsyncIterator())
  }
}

@available(*, unavailable) extension ResultsChanges: Sendable {}

/// The changes that a listener has not consumed yet.
final class ResultsQueue {
  let query: ResultsQuery
  private var changes: [RowsChange] = []
  private var rowCount = 0

  init(_ query: ResultsQuery) {
    self.query = query
    query.add(self)
  }

  /// Adds a change.
  ///
  /// Several changes with more than 1000 rows, and more than the results have, become a single
  /// reset.
  func add(_ change: RowsChange) {
    changes.append(change)
    rowCount += change.rowCount
    guard changes.count > 1, rowCount > Swift.max(1000, change.count) else { return }
    var reset = RowsChange()
    (reset.isReset, reset.count) = (true, change.count)
    (changes, rowCount) = ([reset], 0)
  }

  /// Removes and returns the next change, if there is one.
  func next() -> RowsChange? {
    query.update()
    guard !changes.isEmpty else { return nil }
    let change = changes.removeFirst()
    rowCount -= change.rowCount
    return change
  }
}

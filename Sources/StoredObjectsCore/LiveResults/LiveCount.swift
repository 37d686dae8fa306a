public import Observation
import StoreEngine

/// The number of objects that match a query, updated after every change.
///
///     let unheard = try store.liveCount(of: Song.self, where: #Predicate { $0.plays == 0 })
///     for await count in unheard.values() { badge.text = "\(count)" }
///
/// It takes a bit for each object, and retains no object. See <doc:LiveQueries> for when it
/// changes.
public final class LiveCount: Observable {
  private let query: CountQuery

  init(_ query: CountQuery) { self.query = query }

  /// The number of objects.
  ///
  /// Complexity: constant time, plus the time to update the count.
  public var value: Int {
    query.access()
    return query.count
  }

  /// A Boolean value that indicates whether there are no objects.
  ///
  /// Code that observes this property is only notified when the first object appears and when the
  /// last one disappears.
  public var isEmpty: Bool { query.isEmpty }

  /// The error of an object that could not be evaluated; nil if there was none since the query ran.
  ///
  /// Either its record could not be read, or the predicate threw. The object is left out. An
  /// object that it refers to may be unreadable, such as one that another store has deleted. The
  /// properties of that object then have their defaults, as in queries. This does not add to the
  /// store's ``Store/fetchFailures``.
  public var failure: StoreError? {
    query.access()
    return query.failure
  }

  /// Runs the query again.
  ///
  /// Complexity: that of counting the objects once more.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as
  ///   ``Store/fetch(_:where:sortedBy:limit:offset:after:)``; the count then stays as it is.
  public func reload() throws(StoreError) { try query.reload() }

  /// Returns the number of objects, now and after each change.
  ///
  /// Of the numbers that occur before you wait for the next one, you only get the last.
  public func values() -> LiveValues<Int> {
    LiveValues(query) { [query] last in
      query.update()
      return query.count == last ? nil : query.count
    }
  }
}

@available(*, unavailable) extension LiveCount: Sendable {}

/// A sequence of the latest values of a live query.
///
/// See ``LiveCount/values()`` and ``LiveObject/changes()``.
///
/// The sequence belongs to the isolation domain of its store. It ends when its task is cancelled.
/// Iterate over it once.
public struct LiveValues<Value>: AsyncSequence {
  private let wakeups: AsyncStream<Void>
  private let next: (Value?) -> Value?

  /// Creates a sequence whose values a closure provides when the query may have changed.
  ///
  /// The closure gets the last value, and returns nil if there is no new one.
  init(_ query: LiveQuery, _ next: @escaping (Value?) -> Value?) {
    wakeups = query.wakeups()
    self.next = next
  }

  /// An iterator that waits for values.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var wakeups: AsyncStream<Void>.AsyncIterator
    fileprivate let next: (Value?) -> Value?
    fileprivate var last: Value?

    /// Waits for the next value and returns it; nil once the task is cancelled.
    ///
    /// Complexity: the time to update the query, after each wait.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Value? {
      while true {
        if let value = next(last) {
          last = value
          return value
        }
        guard await wakeups.next(isolation: actor) != nil else { return nil }
      }
    }
  }

  /// Returns an iterator that starts with the first value that has not been consumed.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(wakeups: wakeups.makeAsyncIterator(), next: next)
  }
}

@available(*, unavailable) extension LiveValues: Sendable {}

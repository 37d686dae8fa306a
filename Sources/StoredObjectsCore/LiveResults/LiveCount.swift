public import Observation
import StoreEngine

/// The number of objects that a query finds, now and after every change.
///
///     let unheard = try store.liveCount(of: Song.self, where: #Predicate { $0.plays == 0 })
///     for await count in unheard.values() { badge.text = "\(count)" }
///
/// It holds a bit for each object, and no object. See <doc:LiveQueries> for when it changes.
public final class LiveCount: Observable {
  private let query: CountQuery

  init(_ query: CountQuery) { self.query = query }

  /// The number of objects.
  ///
  /// Complexity: constant time, and that of bringing the count up to date.
  public var value: Int {
    query.access()
    return query.count
  }

  /// Whether there are no objects.
  ///
  /// Code that observes this property is told when the first object comes and when the last one
  /// goes, and of nothing in between.
  public var isEmpty: Bool { query.isEmpty }

  /// A record that could not be read, or an object for which the predicate threw; nil if there was
  /// none since the query ran.
  ///
  /// The object is left out. Where an object that it refers to can't be read, such as one that
  /// another store has deleted, its properties have their defaults, as in queries; that does not
  /// count among the store's ``Store/fetchFailures``.
  public var failure: StoreError? {
    query.access()
    return query.failure
  }

  /// Runs the query again.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as
  ///   ``Store/fetch(_:where:sortedBy:limit:offset:after:)``; the count stays as it is.
  public func reload() throws(StoreError) { try query.reload() }

  /// The number of objects now, and whenever it has changed.
  ///
  /// Numbers that come while you are busy are left out, but for the last one.
  public func values() -> LiveValues<Int> {
    LiveValues(query) { [query] last in
      query.update()
      return query.count == last ? nil : query.count
    }
  }
}

@available(*, unavailable) extension LiveCount: Sendable {}

/// Values that change, the newest one each time: see ``LiveCount/values()`` and
/// ``LiveObject/changes()``.
///
/// The sequence belongs to the isolation domain of its store. It ends when its task is cancelled.
/// Iterate once.
public struct LiveValues<Value>: AsyncSequence {
  private let wakeups: AsyncStream<Void>
  private let next: (Value?) -> Value?

  /// Makes a sequence of values, which are asked for when the query may have changed: a closure is
  /// given the last one, and returns nil if there is no other.
  init(_ query: LiveQuery, _ next: @escaping (Value?) -> Value?) {
    wakeups = query.wakeups()
    self.next = next
  }

  /// Waits for values.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var wakeups: AsyncStream<Void>.AsyncIterator
    fileprivate let next: (Value?) -> Value?
    fileprivate var last: Value?

    /// The next value; nil once the task is cancelled.
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

  /// Starts with the value that has not been waited for.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(wakeups: wakeups.makeAsyncIterator(), next: next)
  }
}

@available(*, unavailable) extension LiveValues: Sendable {}

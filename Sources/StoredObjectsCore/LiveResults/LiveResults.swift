public import Observation
import StoreEngine

/// The objects that a query finds, in order, now and after every change.
///
///     let songs = try store.results(
///       Song.self, where: #Predicate { $0.plays > 100 }, sortedBy: [.ascending(\.title)])
///     print(songs.count, songs[0].title)
///
/// The query runs once. From then on the results follow the changes of the store, and those of
/// other stores when they are merged: see <doc:LiveQueries> for the moments. They hold sort keys
/// and row IDs; an object is made when you look at it.
///
/// Reading results in `withObservationTracking`, `Observations` or a view tells when they have
/// changed. ``changes()`` tells what has changed.
///
/// Indices change with the results. ``objects`` is a collection that does not.
///
/// Results keep their store alive, and belong to its isolation domain.
public class LiveResults<Object: StoredObject>: Observable {
  let query: ResultsQuery

  init(_ query: ResultsQuery) { self.query = query }

  /// The objects as they are in order now, as a collection that stays as it is.
  ///
  /// Complexity: constant time, and that of bringing the results up to date.
  public final var objects: ResultList<Object> {
    query.access()
    return ResultList(query)
  }

  /// The number of objects.
  ///
  /// Complexity: constant time, and that of bringing the results up to date.
  public final var count: Int {
    query.access()
    return query.table.count
  }

  /// Whether there are no objects.
  public final var isEmpty: Bool { count == 0 }

  /// The object at an index.
  ///
  /// The object is a fault, unless it is in memory: its record is read when a property is.
  ///
  /// Complexity: O(log n), and that of bringing the results up to date.
  ///
  /// - Precondition: The index is less than ``count``.
  public final subscript(index: Int) -> Object {
    query.access()
    return query.object(at: index)
  }

  /// The index of an object; nil for one that is not among the results.
  ///
  /// Complexity: O(log n).
  public final func index(of object: Object) -> Int? { place(of: object)?.index }

  /// The place of an object; nil for one that is not among the results.
  ///
  /// Complexity: O(log n).
  public final func place(of object: Object) -> ResultPlace? {
    query.access()
    guard object.registration?.store === query.store else { return nil }
    return object.key.flatMap(query.place(of:))
  }

  /// Whether an object is among the results.
  ///
  /// Complexity: constant time, and that of bringing the results up to date.
  public final func contains(_ object: Object) -> Bool { place(of: object) != nil }

  /// A record that could not be read, or an object for which the predicate threw; nil if there was
  /// none since the query ran.
  ///
  /// The object is left out. Where an object that it refers to can't be read, such as one that
  /// another store has deleted, its properties have their defaults, as in queries; that does not
  /// count among the store's ``Store/fetchFailures``.
  public final var failure: StoreError? {
    query.access()
    return query.failure
  }

  /// Runs the query again, and reports the difference.
  ///
  /// The store calls for it where changes can't be followed: when a subclass is registered, and
  /// after migrations. Call it when the predicate depends on more than objects of the store, such
  /// as the time.
  ///
  /// Complexity: That of ``Store/fetch(_:where:sortedBy:limit:offset:after:)``.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as that; the results stay as they are.
  public final func reload() throws(StoreError) { try query.reload() }

  /// The changes of the results from now on.
  ///
  ///     for await change in songs.changes() { list.apply(change) }
  ///
  /// Edits that are made in one go are one change. See ``ResultsChange`` for how to apply it.
  public final func changes() -> ResultsChanges<Object> {
    query.update()
    return ResultsChanges(query)
  }
}

extension LiveResults: Sequence {
  /// Iterates over the objects as they are in order now, whatever changes meanwhile.
  public final func makeIterator() -> IndexingIterator<ResultList<Object>> {
    objects.makeIterator()
  }

  /// The number of objects.
  public final var underestimatedCount: Int { count }
}

@available(*, unavailable) extension LiveResults: Sendable {}

extension ResultsQuery {
  /// The object at an index, or a fault.
  func object<Object: StoredObject>(at index: Int) -> Object {
    store.object(source.key(of: table.rows.tie(at: index)))
  }
}

extension Store {
  /// The living object of a row that live results have, or a fault.
  func object<Object: StoredObject>(_ key: ObjectKey) -> Object {
    guard let object = registration(classID: key.classID)?.object(key.rowID) as? Object else {
      preconditionFailure("Live results have an object of another class.")
    }
    return object
  }
}

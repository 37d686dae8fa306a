public import Observation
import StoreEngine

/// The objects that match a query, in order, updated after every change.
///
///     let songs = try store.results(
///       Song.self, where: #Predicate { $0.plays > 100 }, sortedBy: [.ascending(\.title)])
///     print(songs.count, songs[0].title)
///
/// The query runs once. From then on the results follow the changes of the store, and those of
/// other stores when they are merged; see <doc:LiveQueries> for when. Results contain sort keys and
/// row IDs; an object is created when you access it.
///
/// Code that reads results in `withObservationTracking`, `Observations` or a view is notified when
/// they change. ``changes()`` describes each change.
///
/// Indices change with the results. ``objects`` is a collection that does not change.
///
/// Results retain their store, and belong to its isolation domain.
public class LiveResults<Object: StoredObject>: Observable {
  let query: ResultsQuery

  init(_ query: ResultsQuery) { self.query = query }

  /// The current objects in order, as a collection that does not change.
  ///
  /// Complexity: constant time, plus the time to update the results.
  public final var objects: ResultList<Object> {
    query.access()
    return ResultList(query)
  }

  /// The number of objects.
  ///
  /// Complexity: constant time, plus the time to update the results.
  public final var count: Int {
    query.access()
    return query.table.count
  }

  /// A Boolean value that indicates whether there are no objects.
  public final var isEmpty: Bool { count == 0 }

  /// Accesses the object at an index.
  ///
  /// The object is a fault unless it is in memory; its record is read when one of its properties
  /// is.
  ///
  /// Complexity: O(log n), plus the time to update the results.
  ///
  /// - Precondition: The index is less than ``count``.
  public final subscript(index: Int) -> Object {
    query.access()
    return query.object(at: index)
  }

  /// Returns the index of an object; nil if it is not among the results.
  ///
  /// Complexity: O(log n), plus the time to update the results.
  public final func index(of object: Object) -> Int? { place(of: object)?.index }

  /// Returns the place of an object; nil if it is not among the results.
  ///
  /// Complexity: O(log n), plus the time to update the results.
  public final func place(of object: Object) -> ResultPlace? {
    query.access()
    guard object.registration?.store === query.store else { return nil }
    return object.key.flatMap(query.place(of:))
  }

  /// Returns whether an object is among the results.
  ///
  /// Complexity: O(log n), plus the time to update the results.
  public final func contains(_ object: Object) -> Bool { place(of: object) != nil }

  /// The error of an object that could not be evaluated; nil if there was none since the query ran.
  ///
  /// Either its record could not be read, or the predicate threw. The object is left out. An
  /// object that it refers to may be unreadable, such as one that another store has deleted. The
  /// properties of that object then have their defaults, as in queries. This does not add to the
  /// store's ``Store/fetchFailures``.
  public final var failure: StoreError? {
    query.access()
    return query.failure
  }

  /// Runs the query again, and reports the differences.
  ///
  /// The store does so itself if it can't follow the changes: when a subclass is registered, and
  /// after migrations. Call it if the predicate depends on more than objects of the store, such as
  /// the time.
  ///
  /// Complexity: that of ``Store/fetch(_:where:sortedBy:limit:offset:after:)``.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as that method; the results then stay as they are.
  public final func reload() throws(StoreError) { try query.reload() }

  /// Returns the changes of the results from now on.
  ///
  ///     for await change in songs.changes() { list.apply(change) }
  ///
  /// Edits without a suspension in between are combined into one change. See ``ResultsChange`` for
  /// how to apply it.
  ///
  /// Complexity: constant time, plus the time to update the results.
  public final func changes() -> ResultsChanges<Object> {
    query.update()
    return ResultsChanges(query)
  }
}

extension LiveResults: Sequence {
  /// Returns an iterator over the current objects in order, independent of later changes.
  ///
  /// Complexity: as ``objects``.
  public final func makeIterator() -> IndexingIterator<ResultList<Object>> {
    objects.makeIterator()
  }

  /// The number of objects.
  public final var underestimatedCount: Int { count }
}

@available(*, unavailable) extension LiveResults: Sendable {}

extension ResultsQuery {
  /// Returns the object at an index, or a fault.
  func object<Object: StoredObject>(at index: Int) -> Object {
    store.object(source.key(of: table.rows.tie(at: index)))
  }
}

extension Store {
  /// Returns the object of a row in live results, or a fault.
  func object<Object: StoredObject>(_ key: ObjectKey) -> Object {
    guard let object = registration(classID: key.classID)?.object(key.rowID) as? Object else {
      preconditionFailure("Live results have an object of another class.")
    }
    return object
  }
}

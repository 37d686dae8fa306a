public import FoundationEssentials
import StoreEngine

extension Store {
  /// The objects that a query finds, in order, now and after every change.
  ///
  ///     let songs = try store.results(
  ///       Song.self, where: #Predicate { $0.plays > 100 }, sortedBy: [.ascending(\.title)])
  ///
  /// The objects are the ones that ``fetch(_:where:sortedBy:limit:offset:after:)`` would return at
  /// any time, without fetching again. See <doc:LiveQueries>.
  ///
  /// Complexity: that of a query without a limit; for each row that changes later O(log n).
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - includingSubclasses: Whether objects of registered subclasses count.
  ///   - predicate: The condition; all objects, if there is none.
  ///   - orders: The properties by which the objects are sorted. Objects that are equal by all of
  ///     them are in the order of their rows.
  /// - Returns: The results, which keep the store alive.
  /// - Throws: ``/StoreEngine/StoreError`` as
  ///   ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func results<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool = false,
    where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = []
  ) throws(StoreError) -> LiveResults<Object> {
    let source = try LiveSource(
      self, type, includingSubclasses: includingSubclasses, predicate, orders)
    return LiveResults(try ResultsQuery(source))
  }

  /// The objects that a query finds, in order and in sections, now and after every change.
  ///
  ///     let songs = try store.results(
  ///       Song.self, sortedBy: [.ascending(\.title)], sections: \.artistName)
  ///
  /// Complexity: as without sections, and linear in the number of sections, a few nanoseconds each,
  /// for each change that is followed by an access by index.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - includingSubclasses: Whether objects of registered subclasses count.
  ///   - predicate: The condition; all objects, if there is none.
  ///   - orders: The properties by which the objects of a section are sorted.
  ///   - property: The property whose values make the sections; it may be computed.
  ///   - isDescending: Whether the section with the greatest value is the first.
  /// - Returns: The results, which keep the store alive.
  /// - Throws: ``/StoreEngine/StoreError`` as
  ///   ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func results<Object: StoredObject, Value: IndexableValue>(
    _ type: Object.Type, includingSubclasses: Bool = false,
    where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = [], sections property: KeyPath<Object, Value>,
    descending isDescending: Bool = false
  ) throws(StoreError) -> SectionedResults<Object, Value> {
    let first: QueryOrder<Object> = isDescending ? .descending(property) : .ascending(property)
    let source = try LiveSource(
      self, type, includingSubclasses: includingSubclasses, predicate, [first] + orders,
      sectionValue: { ($0 as? Object)?[keyPath: property] as Any })
    return SectionedResults(try ResultsQuery(source))
  }

  /// The number of objects that a query finds, now and after every change.
  ///
  ///     let unheard = try store.liveCount(of: Song.self, where: #Predicate { $0.plays == 0 })
  ///
  /// ``LiveCount/isEmpty`` is whether there is none.
  ///
  /// Complexity: linear in the objects that are found.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as
  ///   ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func liveCount<Object: StoredObject>(
    of type: Object.Type, includingSubclasses: Bool = false,
    where predicate: Predicate<Object>? = nil
  ) throws(StoreError) -> LiveCount {
    let source = try LiveSource(
      self, type, includingSubclasses: includingSubclasses, predicate, [])
    return LiveCount(try CountQuery(source))
  }

  /// An object that may change, be deleted and come back.
  ///
  ///     let current = try store.liveObject(song.id)
  ///
  /// There need not be such an object yet.
  ///
  /// Complexity: one record is read, unless the object has its content.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``object(_:)``, and `invalidArgument` for a temporary
  ///   ID.
  public func liveObject<Object: StoredObject>(
    _ id: ObjectID<Object>
  ) throws(StoreError) -> LiveObject<Object> {
    let entry = try registration(of: id)
    guard !id.isTemporary else {
      throw StoreError(
        .invalidArgument, "\(id) is a temporary ID. Insert the object first.",
        at: entry.location())
    }
    let source = try LiveSource(
      self, entry.type, includingSubclasses: false, Predicate<StoredObject>?.none, [])
    let key = ObjectKey(classID: entry.classID, rowID: id.rowID)
    return LiveObject(id, try ObjectQuery(source, key))
  }
}

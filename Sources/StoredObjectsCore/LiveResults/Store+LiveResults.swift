public import FoundationEssentials
import StoreEngine

extension Store {
  /// Returns the objects that match a query, in order, updated after every change.
  ///
  ///     let songs = try store.results(
  ///       Song.self, where: #Predicate { $0.plays > 100 }, sortedBy: [.ascending(\.title)])
  ///
  /// At any time, the objects are those that ``fetch(_:where:sortedBy:limit:offset:after:)`` would
  /// return, without fetching them again. See <doc:LiveQueries>.
  ///
  /// Complexity: that of a query without a limit; O(log n) for each row that changes later.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - includingSubclasses: Whether objects of registered subclasses are included.
  ///   - predicate: The condition; without one, all objects match.
  ///   - orders: The properties by which the objects are sorted. Objects that are equal by all of
  ///     them are in the order of their rows.
  /// - Returns: The results, which retain the store.
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func results<Object: StoredObject>(
    _ type: Object.Type, includingSubclasses: Bool = false,
    where predicate: Predicate<Object>? = nil,
    sortedBy orders: [QueryOrder<Object>] = []
  ) throws(StoreError) -> LiveResults<Object> {
    let source = try LiveSource(
      self, type, includingSubclasses: includingSubclasses, predicate, orders)
    return LiveResults(try ResultsQuery(source))
  }

  /// Returns the objects that match a query, in order and in sections, updated after every change.
  ///
  ///     let songs = try store.results(
  ///       Song.self, sortedBy: [.ascending(\.title)], sections: \.artistName)
  ///
  /// Complexity: as without sections. A change that is followed by an access by index is also
  /// linear in the number of sections, a few nanoseconds for each.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - includingSubclasses: Whether objects of registered subclasses are included.
  ///   - predicate: The condition; without one, all objects match.
  ///   - orders: The properties by which the objects of a section are sorted.
  ///   - property: The property whose values define the sections; it may be computed.
  ///   - isDescending: Whether the section with the greatest value comes first.
  /// - Returns: The results, which retain the store.
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

  /// Returns the number of objects that match a query, updated after every change.
  ///
  ///     let unheard = try store.liveCount(of: Song.self, where: #Predicate { $0.plays == 0 })
  ///
  /// Use ``LiveCount/isEmpty`` to find out only whether there are none.
  ///
  /// Complexity: linear in the number of matching objects.
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

  /// Returns a live reference to an object, which may change, be deleted and be restored.
  ///
  ///     let current = try store.liveObject(song.id)
  ///
  /// The object need not exist yet.
  ///
  /// Complexity: reads one record unless the object already has its content.
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

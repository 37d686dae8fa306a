public import Observation
import StoreEngine

/// A live reference to an object, which may change, be deleted and be restored.
///
///     let current = try store.liveObject(song.id)
///     for await change in current.changes() where change == .deleted { close() }
///
/// It does not retain the object. See <doc:LiveQueries> for when it changes.
public final class LiveObject<Object: StoredObject>: Observable {
  /// The ID of the object.
  public let id: ObjectID<Object>
  private let query: ObjectQuery

  init(_ id: ObjectID<Object>, _ query: ObjectQuery) { (self.id, self.query) = (id, query) }

  /// The object, or a fault; nil while it does not exist.
  ///
  /// As in queries, an object that another store has deleted no longer exists once that change is
  /// merged, even if the object has unsaved changes here.
  ///
  /// Code that observes this property is notified when the object is edited, deleted or restored.
  public var object: Object? {
    query.access()
    return query.isPresent ? query.store.object(query.key) as Object : nil
  }

  /// A Boolean value that indicates whether the object exists.
  public var exists: Bool {
    query.access()
    return query.isPresent
  }

  /// Returns the changes of the object from now on.
  ///
  /// Changes that occur before you wait for the next one are combined.
  ///
  /// Complexity: constant time, plus the time to update the query, which may read the object's
  /// record.
  public func changes() -> LiveValues<ObjectChange> {
    query.update()
    var (wasPresent, changeCount) = (query.isPresent, query.changeCount)
    return LiveValues(query) { [query] _ in
      query.update()
      defer { (wasPresent, changeCount) = (query.isPresent, query.changeCount) }
      if changeCount == query.changeCount { return nil }
      switch (wasPresent, query.isPresent) {
      case (true, true): return .updated
      case (true, false): return .deleted
      case (false, true): return .inserted
      case (false, false): return nil
      }
    }
  }
}

@available(*, unavailable) extension LiveObject: Sendable {}

/// A change of the object of a ``LiveObject``.
public enum ObjectChange: Sendable {
  /// The object was inserted, or its deletion was undone.
  case inserted
  /// The object was edited, or has the content that another store saved.
  case updated
  /// The object was deleted.
  case deleted
}

/// A live query for a single row.
final class ObjectQuery: LiveQuery {
  let key: ObjectKey
  private(set) var isPresent = false
  /// The number of changes of the object.
  private(set) var changeCount = 0

  init(_ source: LiveSource, _ key: ObjectKey) throws(StoreError) {
    self.key = key
    try super.init(source)
    isPresent = try source.placement(of: key) != nil
  }

  override func follows(_ key: ObjectKey) -> Bool { key == self.key }

  override var rows: [ObjectKey] { [key] }

  override func load() throws(StoreError) -> [(ObjectKey, Placement)] {
    try source.placement(of: key).map { [(key, $0)] } ?? []
  }

  override func differs(_ key: ObjectKey, _ placement: Placement?) -> Bool {
    isPresent || placement != nil
  }

  override func apply(_ placements: [ObjectKey: Placement?]) {
    guard let placement = placements[key], isPresent || placement != nil else { return }
    reportChange {
      isPresent = placement != nil
      changeCount += 1
    }
  }
}

public import Observation
import StoreEngine

/// An object that may change, be deleted and come back.
///
///     let current = try store.liveObject(song.id)
///     for await change in current.changes() where change == .deleted { close() }
///
/// It does not keep the object in memory. See <doc:LiveQueries> for when it changes.
public final class LiveObject<Object: StoredObject>: Observable {
  /// The ID of the object.
  public let id: ObjectID<Object>
  private let query: ObjectQuery

  init(_ id: ObjectID<Object>, _ query: ObjectQuery) { (self.id, self.query) = (id, query) }

  /// The object, or a fault; nil while there is none.
  ///
  /// As in queries, an object that another store has deleted is gone once that is merged, even if
  /// it has unsaved changes here.
  ///
  /// Code that observes this property is told when the object is edited, deleted or comes back.
  public var object: Object? {
    query.access()
    return query.isPresent ? query.store.object(query.key) as Object : nil
  }

  /// Whether the object is there.
  public var exists: Bool {
    query.access()
    return query.isPresent
  }

  /// What happens to the object from now on.
  ///
  /// Changes that come while you are busy become one.
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

/// What has happened to the object of a ``LiveObject``.
public enum ObjectChange: Sendable {
  /// The object is new, or a deletion was taken back.
  case inserted
  /// The object was edited, or is another store's now.
  case updated
  /// The object is gone.
  case deleted
}

/// A live query about one row.
final class ObjectQuery: LiveQuery {
  let key: ObjectKey
  private(set) var isPresent = false
  /// How often the object has changed.
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

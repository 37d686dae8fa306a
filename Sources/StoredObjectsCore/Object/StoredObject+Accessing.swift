// What the accessors of properties call, those of `Content` and those that `@Stored` writes.

internal import Observation

extension StoredObject {
  /// Whether changing a property is no more than telling the store.
  ///
  /// It is not for an object with relationships, or one that is observed.
  @inlinable public final var isPlain: Bool { state.isDisjoint(with: .special) }

  /// Whether reading a property is no more than that.
  ///
  /// It is not for a fault, for an object with relationships, or one that is observed.
  @inlinable public final var isReadable: Bool {
    state.intersection([.hasContent, .attentive, .observed]) == .hasContent
  }

  /// Called before a property of an object that is not readable is read.
  public final func willRead<Object: StoredObject, Value>(_ property: KeyPath<Object, Value>) {
    checkForContent()
    guard state.contains(.observed), !state.contains(.loading), let object = self as? Object else {
      return
    }
    registration?.store?.observedObjects?.access(object, property)
  }

  /// Called before a property of an object that is not plain changes in place.
  ///
  /// - Returns: what to end when it has changed.
  public final func willModify<Object: StoredObject, Value>(
    _ property: KeyPath<Object, Value>
  ) -> Modification<Object, Value> {
    willUpdate()
    return Modification(self, property)
  }
}

/// A property that is being changed in place.
public struct Modification<Object: StoredObject, Value> {
  private let keeper: RelationshipKeeper?
  private let observed: (registrar: ObservationRegistrar, object: Object, KeyPath<Object, Value>)?

  init(_ object: StoredObject, _ property: KeyPath<Object, Value>) {
    let store = object.registration?.store
    keeper = store?.relationships
    if !object.state.contains(.loading), let object = object as? Object,
      let registrar = store?.observedObjects?.registrar(of: object)
    {
      observed = (registrar, object, property)
      registrar.willSet(object, keyPath: property)
    } else {
      observed = nil
    }
    keeper?.beginModification()
  }

  /// The property has changed.
  public func end() {
    keeper?.endModification()
    guard let (registrar, object, property) = observed else { return }
    registrar.didSet(object, keyPath: property)
  }
}

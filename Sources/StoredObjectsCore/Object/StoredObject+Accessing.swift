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
  public final func willModify<Object: StoredObject, Value>(_ property: KeyPath<Object, Value>) {
    willUpdate()
    guard !state.contains(.loading), let store = registration?.store else { return }
    if let object = self as? Object, let registrar = store.observedObjects?.registrar(of: object) {
      registrar.willSet(object, keyPath: property)
    }
    store.relationships?.beginModification(of: self)
  }

  /// Called when a property of an object that is not plain has changed in place.
  public final func didModify<Object: StoredObject, Value>(_ property: KeyPath<Object, Value>) {
    guard !state.contains(.loading), let store = registration?.store else { return }
    store.relationships?.endModification(of: self)
    if let object = self as? Object, let registrar = store.observedObjects?.registrar(of: object) {
      registrar.didSet(object, keyPath: property)
    }
  }
}

// `Content` does not say which property it is: to be handed its key path would cost more than the
// access, even where nobody needs it. So observers hear of any property of the object.

extension StoredObject {
  /// Called before any property of an object that is not readable is read.
  @usableFromInline final func willRead() { willRead(\StoredObject.wholeContent) }

  /// Called before any property of an object that is not plain changes in place.
  @usableFromInline final func willModify() { willModify(\StoredObject.wholeContent) }

  /// Called when any property of an object that is not plain has changed in place.
  @usableFromInline final func didModify() { didModify(\StoredObject.wholeContent) }

  final var wholeContent: Void { () }
}

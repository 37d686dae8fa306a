// What the accessors of properties call, those of `Content` and those that `@Stored` writes.
//
// They name the property, and do not hand over its key path: a key path holds on to the accessors
// that it leads to, so that the compiler could no longer see that nobody calls them, and would
// check every reading for exclusivity, at twice the cost.

import StoreEngine

extension StoredObject {
  /// Whether changing a property is no more than telling the store.
  ///
  /// It is not for an object with relationships, one that is observed, or one of whose change a
  /// delegate hears.
  @inlinable public final var isPlain: Bool { state.isDisjoint(with: .notPlain) }

  /// Called before a property of a plain object changes in place.
  ///
  /// It is ``willUpdate()`` for accessors that ask ``isPlain`` again afterwards.
  @inlinable public final func willChange() {
    if state.isDisjoint(with: [.editable, .detached, .loading]) { beginChange() }
  }

  @usableFromInline final func beginChange() {
    registration?.store?.willUpdate(self, isFollowed: true)
  }

  /// Whether reading a property is no more than that.
  ///
  /// It is not for a fault, for an object with relationships, or one that is observed.
  @inlinable public final var isReadable: Bool {
    state.intersection([.hasContent, .attentive, .observed]) == .hasContent
  }

  /// Called before a property of an object that is not readable is read.
  public final func willRead(_ property: String) {
    checkForContent()
    guard state.contains(.observed), !state.contains(.loading) else { return }
    registration?.liveQueries?.didRead(self)
    registration?.store?.observedObjects?.access(self, property)
  }

  /// Called before a property of an object that is not plain changes in place.
  public final func willModify(_ property: String) {
    willChange()
    guard !state.contains(.loading), let store = registration?.store else { return }
    store.observedObjects?.willSet(self, property)
    store.relationships?.beginModification(of: self)
  }

  /// Called when a property of an object that is not plain has changed in place.
  public final func didModify(_ property: String) {
    guard !state.contains(.loading), let store = registration?.store else {
      state.subtract([.changing, .beingModified])
      return
    }
    store.relationships?.endModification(of: self)
    store.observedObjects?.didSet(self, property)
    if state.contains(.beingModified) { store.didModify(self) }
    if state.contains(.changing) { store.didUpdate(self) }
  }
}

// `Content` does not say which property it is: to be handed its name would cost more than the
// access, even where nobody needs it. So observers hear of any property of the object.

extension StoredObject {
  /// Called before any property of an object that is not readable is read.
  @usableFromInline final func willRead() { willRead("") }

  /// Called before any property of an object that is not plain changes in place.
  @usableFromInline final func willModify() { willModify("") }

  /// Called when any property of an object that is not plain has changed in place.
  @usableFromInline final func didModify() { didModify("") }
}

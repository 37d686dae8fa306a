// The functions that accessors of properties call: those of `Content` and those that `@Stored`
// generates.
//
// They take the name of the property, not its key path. A key path references the property's
// accessors, so the compiler could no longer see that nothing else calls them. It would check every
// read for exclusivity, at twice the cost.

import StoreEngine

extension StoredObject {
  /// Whether the only thing to do before changing a property is to notify the store.
  ///
  /// False for an object with relationships, an object that is observed, and one whose change a
  /// delegate is notified of.
  @inlinable public final var isPlain: Bool { state.isDisjoint(with: .notPlain) }

  /// Notifies the store before a property of a plain object changes in place.
  ///
  /// Does the same as ``willUpdate()``, for accessors that check ``isPlain`` again afterwards.
  ///
  /// Complexity: as ``willUpdate()``.
  @inlinable public final func willChange() {
    if state.isDisjoint(with: [.editable, .detached, .loading]) { beginChange() }
  }

  @usableFromInline final func beginChange() {
    registration?.store?.willUpdate(self, isFollowed: true)
  }

  /// Whether there is nothing to do before reading a property.
  ///
  /// False for a fault, an object with relationships, and an object that is observed.
  @inlinable public final var isReadable: Bool {
    state.intersection([.hasContent, .attentive, .observed]) == .hasContent
  }

  /// Prepares an object that is not readable for reading a property.
  ///
  /// Complexity: as ``checkForContent()``.
  public final func willRead(_ property: String) {
    checkForContent()
    guard state.contains(.observed), !state.contains(.loading) else { return }
    registration?.liveQueries?.didRead(self)
    registration?.store?.observedObjects?.access(self, property)
  }

  /// Prepares an object that is not plain for changing a property in place.
  ///
  /// Complexity: as ``willUpdate()``.
  public final func willModify(_ property: String) {
    willChange()
    guard !state.contains(.loading), let store = registration?.store else { return }
    store.observedObjects?.willSet(self, property)
    store.relationships?.beginModification(of: self)
  }

  /// Finishes changing a property in place of an object that is not plain.
  ///
  /// Complexity: constant time; with live queries, linear in their number, and those whose results
  /// were read evaluate the object.
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

// `Content` does not know the name of its property: passing the name would cost more than the
// access, even if it is not needed. So observers are notified of any property of the object.

extension StoredObject {
  /// Prepares an object that is not readable for reading any property.
  @usableFromInline final func willRead() { willRead("") }

  /// Prepares an object that is not plain for changing any property in place.
  @usableFromInline final func willModify() { willModify("") }

  /// Finishes changing any property in place of an object that is not plain.
  @usableFromInline final func didModify() { didModify("") }
}

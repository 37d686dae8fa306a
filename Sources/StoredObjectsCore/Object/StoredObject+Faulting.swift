import StoreEngine

extension StoredObject {
  /// Whether the properties hold the object's content.
  ///
  /// False for a fault.
  @inlinable public final var hasContent: Bool { state.contains(.hasContent) }

  /// Reads the object's record, unless its content is here already.
  ///
  /// Unsaved changes are never overwritten. ``Store/refresh(_:)`` reads anew.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `recordMissing`, `damaged`, `newerVersion`,
  ///   `closed` or `ioError`. The object stays a fault, and reading can be tried again.
  public final func fetchContent() throws(StoreError) {
    if hasContent || state.contains(.loading) { return }
    guard let registration, let store = registration.store else {
      throw StoreError(
        .closed, "The object's store is gone, or the object was deleted before it was read.",
        at: .init(className: type(of: self).storedName, rowID: rowID))
    }
    try store.readContent(of: self, registration)
  }

  /// Reads the object's record, if need be; what getters of hand-written properties call first.
  ///
  /// A getter can't throw. When the record is missing or damaged, the property gives its default,
  /// and the store remembers that this happened: see ``Store/fetchFailures``. Until that is
  /// acknowledged no save goes through, so that a default never overwrites good data. To handle the
  /// error on the spot, call ``fetchContent()`` before reading properties.
  @inlinable public final func checkForContent() {
    if state.intersection([.hasContent, .attentive]) != .hasContent { fetchLazily() }
  }

  @usableFromInline final func fetchLazily() {
    if state.contains(.attentive) {
      registration?.store?.settleRelationships(beforeReading: self)
      if hasContent { return }
    }
    do {
      try fetchContent()
    } catch {
      registration?.note(FetchFailure(object: self, error: error))
    }
  }

  /// Tells the store that the object is about to change; what setters call first.
  ///
  /// Reads the record of a fault, so that its other properties are not lost. Does nothing for an
  /// object that is in no store. Calling it twice is harmless.
  @inlinable public final func willUpdate() {
    if state.isDisjoint(with: [.editable, .detached, .loading]) { beginUpdate() }
  }

  @usableFromInline final func beginUpdate() {
    registration?.store?.willUpdate(self)
  }
}

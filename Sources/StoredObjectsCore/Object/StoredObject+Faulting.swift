import StoreEngine

extension StoredObject {
  /// A Boolean value that indicates whether the properties hold the object's content.
  ///
  /// False for a fault.
  @inlinable public final var hasContent: Bool { state.contains(.hasContent) }

  /// Reads the object's record, unless its content has been read.
  ///
  /// Never overwrites unsaved changes. To read the record again, call ``Store/refresh(_:)``.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `recordMissing`, `damaged`, `newerVersion`,
  ///   `closed` or `ioError`. The object stays a fault, and you can try again.
  public final func fetchContent() throws(StoreError) {
    if hasContent || state.contains(.loading) { return }
    guard let registration, let store = registration.store else {
      throw StoreError(
        .closed, "The object's store is gone, or the object was deleted before it was read.",
        at: .init(className: type(of: self).storedName, rowID: rowID))
    }
    try store.readContent(of: self, registration)
  }

  /// Reads the object's record if necessary; getters written by hand call it first.
  ///
  /// A getter can't throw. If the record is missing or damaged, the property returns its default,
  /// and the store adds an entry to ``Store/fetchFailures``. Saves fail until you acknowledge it,
  /// so that a default never overwrites good data. To handle the error at once, call
  /// ``fetchContent()`` before reading properties.
  ///
  /// Complexity: a flag test for an object with content; otherwise as ``fetchContent()``. For a
  /// class with relationships, also linear in the number of edits whose inverses are not updated
  /// yet.
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

  /// Notifies the store that the object is about to change; setters call it first.
  ///
  /// Reads the record of a fault, so that its other properties are not lost. Does nothing for an
  /// object that is in no store. Calling it twice is harmless.
  ///
  /// Complexity: a flag test for an object that has already changed. Otherwise as
  /// ``checkForContent()``, and one encoding of the object in a transaction, with a
  /// ``StoreUndoManager`` or with ``ConflictPolicy/merge``.
  @inlinable public final func willUpdate() {
    if state.isDisjoint(with: [.editable, .detached, .loading]) { beginUpdate() }
  }

  @usableFromInline final func beginUpdate() {
    registration?.store?.willUpdate(self)
  }
}

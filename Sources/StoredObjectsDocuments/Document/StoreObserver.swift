import StoredObjectsCore

/// The delegate of a document's store, which passes every call to the delegate of the application.
final class StoreObserver: StoreDelegate {
  private weak var document: StoredDocument?

  init(_ document: StoredDocument) { self.document = document }

  private var next: (any StoreDelegate)? { document?.storeDelegate }

  func store(_ store: Store, willInsert object: StoredObject) {
    next?.store(store, willInsert: object)
  }

  func store(_ store: Store, willDelete object: StoredObject) {
    next?.store(store, willDelete: object)
  }

  func store(_ store: Store, willUpdate object: StoredObject) {
    next?.store(store, willUpdate: object)
  }

  func storeDidChange(_ store: Store) {
    next?.storeDidChange(store)
    document?.didChange()
  }

  func storeDidSave(_ store: Store) {
    next?.storeDidSave(store)
  }

  func store(_ store: Store, didFailToFetch failure: FetchFailure) {
    next?.store(store, didFailToFetch: failure)
  }

  func store(_ store: Store, didFailToFold failure: FoldFailure) {
    next?.store(store, didFailToFold: failure)
  }

  func store(_ store: Store, didLeaveOutOfIndexes failure: FetchFailure) {
    next?.store(store, didLeaveOutOfIndexes: failure)
  }
}

extension StoredDocument {
  /// Notices that the unsaved changes have changed.
  func didChange() {
    if isReadOnly || isSaving { return }
    if store.hasUnsavedChanges { edits.send() }
    tellEdited()
  }
}

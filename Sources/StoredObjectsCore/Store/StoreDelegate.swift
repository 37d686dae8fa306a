/// Hears of what happens in a store.
///
/// Every method may be left out.
///
/// The calls come on the store's own isolation domain. The delegate may change objects; those changes
/// belong to the same save as the ones it is told of, but for `storeDidSave(_:)`.
public protocol StoreDelegate: AnyObject {
  /// An object is about to be inserted.
  func store(_ store: Store, willInsert object: StoredObject)
  /// An object is about to be deleted, before its delete rules run.
  func store(_ store: Store, willDelete object: StoredObject)
  /// An object is about to be changed, for the first time since the last save.
  func store(_ store: Store, willUpdate object: StoredObject)
  /// The unsaved changes are others than before: more, or none any more.
  func storeDidChange(_ store: Store)
  /// A save has gone through.
  func storeDidSave(_ store: Store)
  /// A getter could not read an object's content, see ``Store/fetchFailures``.
  func store(_ store: Store, didFailToFetch failure: FetchFailure)
  /// A damaged record is left out of the indexes of its class.
  ///
  /// Queries and searches by an index do not find the object. All others are found and can be saved.
  func store(_ store: Store, didLeaveOutOfIndexes failure: FetchFailure)
}

extension StoreDelegate {
  /// Does nothing.
  public func store(_ store: Store, willInsert object: StoredObject) {}
  /// Does nothing.
  public func store(_ store: Store, willDelete object: StoredObject) {}
  /// Does nothing.
  public func store(_ store: Store, willUpdate object: StoredObject) {}
  /// Does nothing.
  public func storeDidChange(_ store: Store) {}
  /// Does nothing.
  public func storeDidSave(_ store: Store) {}
  /// Does nothing.
  public func store(_ store: Store, didFailToFetch failure: FetchFailure) {}
  /// Does nothing.
  public func store(_ store: Store, didLeaveOutOfIndexes failure: FetchFailure) {}
}

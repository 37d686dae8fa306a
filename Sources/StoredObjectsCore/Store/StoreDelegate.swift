import StoreEngine

/// Hears of what happens in a store.
///
/// Every method may be left out.
///
/// The calls come on the store's own isolation domain. In each of them the delegate may read, edit,
/// insert, delete, save, discard and undo. Its changes belong to the same save as the ones that the
/// call reports, except for those made in `storeDidSave(_:)`.
///
/// Undo and redo call the delegate as edits do. Changes that it makes meanwhile are part of the
/// step.
///
/// A save in `storeDidChange(_:)` writes the new value of a property. There is one exception: a
/// setter written by hand that calls ``StoredObject/willUpdate()`` causes the call before it sets
/// the value. A save then writes the old value, and the new one remains unsaved.
public protocol StoreDelegate: AnyObject {
  /// An object is about to be inserted.
  func store(_ store: Store, willInsert object: StoredObject)
  /// An object is about to be deleted, before its delete rules run.
  func store(_ store: Store, willDelete object: StoredObject)
  /// An object is about to be changed, for the first time since the last save.
  func store(_ store: Store, willUpdate object: StoredObject)
  /// The unsaved changes are others than before: more, or none any more.
  ///
  /// Called once for a deletion with all that its rules delete.
  func storeDidChange(_ store: Store)
  /// A save has gone through.
  func storeDidSave(_ store: Store)
  /// A getter could not read an object's content, see ``Store/fetchFailures``.
  func store(_ store: Store, didFailToFetch failure: FetchFailure)
  /// The backend could not fold its log into its files, see
  /// ``/StoreEngine/StoreBackend/foldFailure``.
  ///
  /// Saves go on, and are safe, but the log grows. This is called after a save, at most once for
  /// each attempt; an attempt is made every few mebibytes of log.
  func store(_ store: Store, didFailToFold failure: FoldFailure)
  /// A damaged record is left out of the indexes of its class.
  ///
  /// Queries and searches by an index do not find the object. All others are found and can be
  /// saved.
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
  public func store(_ store: Store, didFailToFold failure: FoldFailure) {}
  /// Does nothing.
  public func store(_ store: Store, didLeaveOutOfIndexes failure: FetchFailure) {}
}

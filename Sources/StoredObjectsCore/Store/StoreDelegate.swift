import StoreEngine

/// A type that is notified of what happens in a store.
///
/// All methods are optional.
///
/// Methods are called in the store's isolation domain. In each of them the delegate can read, edit,
/// insert, delete, save, discard and undo. Its changes belong to the same save as the changes that
/// the call reports, except for those made in `storeDidSave(_:)`.
///
/// Undo and redo call the delegate as edits do. Changes that it makes meanwhile are part of the
/// step.
///
/// A save in `storeDidChange(_:)` writes the new value of a property. There is one exception: a
/// setter written by hand that calls ``StoredObject/willUpdate()`` triggers the call before it sets
/// the value. A save then writes the old value, and the new one remains unsaved.
public protocol StoreDelegate: AnyObject {
  /// Notifies the delegate that an object is about to be inserted.
  func store(_ store: Store, willInsert object: StoredObject)
  /// Notifies the delegate that an object is about to be deleted, before its delete rules run.
  func store(_ store: Store, willDelete object: StoredObject)
  /// Notifies the delegate that an object is about to change, the first time since the last save.
  func store(_ store: Store, willUpdate object: StoredObject)
  /// Notifies the delegate that the unsaved changes have changed: there are more, or none anymore.
  ///
  /// Called once for a deletion with everything that its rules delete.
  func storeDidChange(_ store: Store)
  /// Notifies the delegate that a save has succeeded.
  func storeDidSave(_ store: Store)
  /// Notifies the delegate that a getter could not read an object's content.
  ///
  /// See ``Store/fetchFailures``.
  func store(_ store: Store, didFailToFetch failure: FetchFailure)
  /// Notifies the delegate that a checkpoint has failed to fold the backend's log into its files.
  ///
  /// Saves continue and are safe, but the log grows. Called after a save, at most once for each
  /// attempt; the backend makes an attempt every few mebibytes of log. See
  /// ``/StoreEngine/StoreBackend/foldFailure``.
  func store(_ store: Store, didFailToFold failure: FoldFailure)
  /// Notifies the delegate that a damaged record is left out of the indexes of its class.
  ///
  /// Queries and searches by an index do not find the object. All other objects are found and can
  /// be saved.
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

public import KeyValueStoreCore
public import StoredObjectsCore

/// An object that this device and another one have changed, in a way that no rule decides.
public struct SyncConflict: Sendable {
  /// The changes of the two sides.
  public enum Kind: Sendable, Hashable {
    /// Both have given these properties different values.
    case properties([String])
    /// This device has deleted the object, and the other side has changed it.
    case deletedHere
    /// The other side has deleted the object, and this device has changed it.
    case deletedElsewhere
    /// Both sides have restored an object that was deleted before.
    case restoredTwice
    /// An object of the other side has the value of a unique property.
    case notUnique(property: String)
  }

  /// The object of this device.
  public let id: ObjectID<StoredObject>
  /// The changes of the two sides.
  public let kind: Kind
}

/// A decision about a conflict.
public enum SyncDecision: Sendable {
  /// The object becomes what it is on this device.
  ///
  /// Of properties that only one side has changed, that side's values are kept. A value that must be
  /// unique can't be kept: the sync fails.
  case mine
  /// The object becomes what it is on the other side.
  case theirs
  /// A closure edits the object of this device, and the result counts.
  case edit(@Sendable (StoredObject) -> Void)
  /// The sync fails with `conflict` and changes nothing; the user can edit the object first.
  case fail
}

/// An item of a key-value store that this device and another one have changed differently.
///
/// The same value with the same expiry is no conflict. Neither is an item that has expired, and that
/// one side has removed for this reason.
public struct SyncItemConflict: Sendable {
  /// The name of the table.
  public let table: String
  /// The key.
  public let key: String
  /// The item before the changes of both sides; nil if there was none.
  public let base: KeyValueItem?
  /// The item of this device; nil if it has deleted the item.
  public let mine: KeyValueItem?
  /// The item of the server; nil if others have deleted it.
  public let theirs: KeyValueItem?
}

/// A decision about an item of a key-value store.
public enum SyncItemDecision: Sendable {
  /// The item becomes what it is on this device.
  case mine
  /// The item becomes what it is on the server.
  case theirs
  /// The sync fails with `conflict` and changes nothing.
  case fail
}

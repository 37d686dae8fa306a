/// Decides what a save does with objects that another store saved after this store read them.
///
///     let configuration = StoreConfiguration(conflictPolicy: .merge)
///
/// Whatever the policy, an object that one side has deleted and the other one has changed is a
/// conflict, except that ``mine`` saves it as it is here. So is a value that must be unique and that
/// both sides have given out.
public enum ConflictPolicy: Sendable, Hashable, CaseIterable {
  /// The save throws `conflict`, and you decide; the default.
  case error
  /// The object becomes what the other store has saved.
  case theirs
  /// The object is saved as it is here, see ``Store/keepConflictingChanges()``.
  case mine
  /// Changes of both sides are kept, property by property.
  ///
  /// Ordered lists are merged: what either side has inserted is there, what either side has removed
  /// is gone, and no repeat is lost or doubled. So are sets. Where both sides have given a property
  /// different values, ``StoredObject/merge(base:theirs:)`` of the class decides, or the save throws
  /// `conflict`.
  ///
  /// For classes that declare their properties, by `@Stored` or by hand. An object is encoded once
  /// when it is first changed, so that it is known what it was like.
  case merge
}

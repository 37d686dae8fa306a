/// A policy for objects that another store has saved since this store read them.
///
///     let configuration = StoreConfiguration(conflictPolicy: .merge)
///
/// With every policy, an object that one side has deleted and the other has changed is a conflict,
/// except that ``mine`` saves it as it is here. A unique value that both sides have used is a
/// conflict, too.
public enum ConflictPolicy: Sendable, Hashable, CaseIterable {
  /// The save throws `conflict`, and you resolve it; this is the default.
  case error
  /// The object becomes what the other store has saved.
  case theirs
  /// The object is saved as it is here; see ``Store/keepConflictingChanges()``.
  case mine
  /// The changes of both sides are kept, property by property.
  ///
  /// Ordered lists and sets are merged: elements that either side has inserted are in the result,
  /// elements that either side has removed are not, and no repeat is lost or doubled. If both sides
  /// have given a property different values, ``StoredObject/merge(base:theirs:)`` of the class
  /// decides, or the save throws `conflict`.
  ///
  /// It works for classes that declare their properties, by `@Stored` or by hand. Each object is
  /// encoded once when it is first changed, to keep its earlier content for the comparison.
  case merge
}

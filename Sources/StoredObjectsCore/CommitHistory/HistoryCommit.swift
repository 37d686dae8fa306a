public import StoreEngine

/// A commit in the history, and the objects that it has changed.
public struct HistoryCommit: Sendable {
  /// The commit: its number, author and time.
  public let commit: Commit
  /// The changed objects, by class.
  public let changes: [HistoryChange]
}

/// The change of one object by a commit in the history.
public struct HistoryChange: Sendable, Hashable {
  /// The kinds of changes of an object.
  public enum Kind: String, Sendable, Codable {
    /// The commit has inserted the object.
    case inserted
    /// The commit has changed the object.
    case updated
    /// The commit has deleted the object.
    case deleted
  }

  /// The ID of the object.
  public let id: ObjectID<StoredObject>
  /// The object before the commit; nil if the commit has inserted it.
  public let old: ObjectValue?
  /// The object after the commit; nil if the commit has deleted it.
  public let new: ObjectValue?

  /// The kind of the change.
  public var kind: Kind {
    if old == nil { return .inserted }
    return new == nil ? .deleted : .updated
  }

  /// The names of the properties whose values have changed, in alphabetical order.
  ///
  /// For an object that was inserted or deleted, these are all of its properties.
  ///
  /// Complexity: linear in the size of the object.
  public var changedProperties: [String] {
    let (old, new) = (old?.values ?? [:], new?.values ?? [:])
    let names = Set(old.map(\.key)).union(new.map(\.key))
    return names.filter { old[$0] != new[$0] }.sorted()
  }
}

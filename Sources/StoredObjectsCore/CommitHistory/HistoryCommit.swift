public import StoreEngine

/// A commit of the past, and the objects that it has changed.
public struct HistoryCommit: Sendable {
  /// The commit: its number, author and time.
  public let commit: Commit
  /// The objects, class by class.
  public let changes: [HistoryChange]
}

/// The change of one object by a commit of the past.
public struct HistoryChange: Sendable, Hashable {
  /// What can happen to an object.
  public enum Kind: String, Sendable, Codable {
    case inserted, updated, deleted
  }

  /// The ID of the object.
  public let id: ObjectID<StoredObject>
  /// The object before the commit; nil if the commit has inserted it.
  public let old: ObjectValue?
  /// The object after the commit; nil if the commit has deleted it.
  public let new: ObjectValue?

  /// What has happened to the object.
  public var kind: Kind {
    if old == nil { return .inserted }
    return new == nil ? .deleted : .updated
  }

  /// The names of the properties whose values are others than before, in alphabetical order.
  ///
  /// All of its properties for an object that was inserted or deleted.
  ///
  /// Complexity: linear in the size of the object.
  public var changedProperties: [String] {
    let (old, new) = (old?.values ?? [:], new?.values ?? [:])
    let names = Set(old.map(\.key)).union(new.map(\.key))
    return names.filter { old[$0] != new[$0] }.sorted()
  }
}

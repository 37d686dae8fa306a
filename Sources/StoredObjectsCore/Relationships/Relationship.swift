import StoreEngine

/// The delete rule and the inverse of a property that refers to other objects.
///
/// `@Stored` creates them from `@Relationship`. A class written by hand lists them:
///
///     final class Playlist: StoredObject {
///       @Content var songs: [Song] = []
///       override class var relationships: [Relationship] {
///         [Relationship(\Playlist.songs, deleteRule: .nullify, inverse: \Song.playlists)]
///       }
///     }
///
/// **Inverses.** When either side changes, the other side is updated: a song occurs in `songs` as
/// often as the playlist occurs in the song's `playlists`. Each side keeps its own order; new
/// objects are appended to the other side. A reference to one object is a list of one: setting it
/// removes the object from where it was. You only need to declare one side and name the inverse
/// there. You can declare the other side as well, to give it a delete rule of its own. Only objects
/// that an edit adds or removes are read and changed; a move changes none. Objects in no store have
/// no other side until they are inserted.
///
/// **Deletions.** When an object is deleted, the delete rule of each of its relationships applies
/// to the objects that it refers to. References from other objects *to it* are removed from every
/// place of every list, loaded or not. With an inverse, these objects are known. Without one, the
/// first deletion reads all objects of their class once and remembers their references. This takes
/// 4 bytes for each reference and about 60 for each object that is referred to.
public struct Relationship {
  /// The effect of a deletion on the objects that the deleted object refers to.
  public enum DeleteRule: String, Sendable, CaseIterable {
    /// They stay, and their inverse references to the deleted object are removed.
    case nullify
    /// They are deleted as well, by their own rules.
    case cascade
    /// There must be none: a save throws `deleteDenied` while there are.
    case deny
    /// Nothing happens: references stay, and a save that would write one throws `notEncodable`.
    case noAction
  }

  /// The effect of deleting the object on the objects that it refers to.
  public let deleteRule: DeleteRule
  let property: AnyKeyPath
  let target: StoredObject.Type
  private(set) var inverse: AnyKeyPath?
  let access: ReferenceAccess
  /// Creates the other side of the relationship, as if the target declared it.
  private(set) var impliedInverse: (() -> Relationship?)?

  private init<Source: StoredObject, Target: StoredObject>(
    _ property: AnyKeyPath, _ access: ReferenceAccess, _ deleteRule: DeleteRule,
    _ inverse: PartialKeyPath<Target>?, source: Source.Type
  ) {
    (self.property, self.access, self.deleteRule) = (property, access, deleteRule)
    (self.inverse, target) = (inverse, Target.self)
    impliedInverse = inverse.map { inverse in { Self.implied(inverse, property, Source.self) } }
  }

  /// Creates a relationship for a reference to one object.
  public init<Source: StoredObject, Target: StoredObject>(
    _ property: ReferenceWritableKeyPath<Source, Target?>, deleteRule: DeleteRule = .nullify,
    inverse: PartialKeyPath<Target>? = nil
  ) {
    let access = ReferenceAccess(one: property)
    self.init(property, access, deleteRule, inverse, source: Source.self)
  }

  /// Creates a relationship for an ordered list, in which an object may occur more than once.
  public init<
    Source: StoredObject, Target: StoredObject,
    List: RangeReplaceableCollection & RandomAccessCollection
  >(
    _ property: ReferenceWritableKeyPath<Source, List>, deleteRule: DeleteRule = .nullify,
    inverse: PartialKeyPath<Target>? = nil
  ) where List.Element == Target {
    let access = ReferenceAccess(list: property)
    self.init(property, access, deleteRule, inverse, source: Source.self)
  }

  /// Creates a relationship for a set of objects.
  public init<Source: StoredObject, Target: StoredObject>(
    _ property: ReferenceWritableKeyPath<Source, Set<Target>>, deleteRule: DeleteRule = .nullify,
    inverse: PartialKeyPath<Target>? = nil
  ) {
    let access = ReferenceAccess(set: property)
    self.init(property, access, deleteRule, inverse, source: Source.self)
  }

  /// Returns this relationship with the inverse that the other side has named.
  func adopting(_ other: Relationship) -> Relationship {
    var relationship = self
    (relationship.inverse, relationship.impliedInverse) = (other.inverse, other.impliedInverse)
    return relationship
  }

  private static func implied<Source: StoredObject, Target: StoredObject>(
    _ inverse: PartialKeyPath<Target>, _ property: AnyKeyPath, _: Source.Type
  ) -> Relationship? {
    let back = property as? PartialKeyPath<Source>
    if let path = inverse as? ReferenceWritableKeyPath<Target, Source?> {
      return Relationship(path, inverse: back)
    }
    if let path = inverse as? ReferenceWritableKeyPath<Target, [Source]> {
      return Relationship(path, inverse: back)
    }
    if let path = inverse as? ReferenceWritableKeyPath<Target, ObjectList<Source>> {
      return Relationship(path, inverse: back)
    }
    if let path = inverse as? ReferenceWritableKeyPath<Target, Set<Source>> {
      return Relationship(path, inverse: back)
    }
    return nil
  }
}

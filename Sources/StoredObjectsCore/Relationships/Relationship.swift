import StoreEngine

/// What a class says of a property that refers to other objects: what a deletion does, and which
/// property of the others is its other side.
///
/// `@Stored` makes these of `@Relationship`. A hand-written class lists them:
///
///     final class Playlist: StoredObject {
///       @Content var songs: [Song] = []
///       override class var relationships: [Relationship] {
///         [Relationship(\Playlist.songs, deleteRule: .nullify, inverse: \Song.playlists)]
///       }
///     }
///
/// **Inverses.** Whichever side changes, the other follows: a song is in `songs` as often as the
/// playlist is in the song's `playlists`. Each side keeps its own order; who is new on the other
/// side stands last there. A reference to one object is a list of one: setting it takes the object
/// away from where it was. It is enough to declare one side and to name the inverse there; the
/// other may be declared, too, for a delete rule of its own. Only objects that an edit adds or
/// removes are read and changed, and a move changes none. Objects that are in no store have no
/// other side until they are inserted.
///
/// **Deletions.** When an object is deleted, the rule of each of its relationships says what
/// becomes of the objects that it refers to. Objects that refer to *it* lose the reference, in
/// every place of every list, loaded or not: with an inverse they are known; without one, the first
/// deletion reads all objects of their class once, and remembers who refers to whom, 4 bytes for
/// each reference and some 60 for each object that is referred to.
public struct Relationship {
  /// What becomes of the objects that a deleted object refers to.
  public enum DeleteRule: String, Sendable, CaseIterable {
    /// They stay, and their inverse lets go of the deleted object.
    case nullify
    /// They are deleted, too, by their own rules.
    case cascade
    /// There must be none: a save throws `deleteDenied` as long as there are.
    case deny
    /// Nothing. References stay, and a save that would write one throws `notEncodable`.
    case noAction
  }

  /// What becomes of the others when the object is deleted.
  public let deleteRule: DeleteRule
  let property: AnyKeyPath
  let target: StoredObject.Type
  private(set) var inverse: AnyKeyPath?
  let access: ReferenceAccess
  /// Makes the other side of the relationship, as if it were declared by the target.
  private(set) var impliedInverse: (() -> Relationship?)?

  private init<Source: StoredObject, Target: StoredObject>(
    _ property: AnyKeyPath, _ access: ReferenceAccess, _ deleteRule: DeleteRule,
    _ inverse: PartialKeyPath<Target>?, source: Source.Type
  ) {
    (self.property, self.access, self.deleteRule) = (property, access, deleteRule)
    (self.inverse, target) = (inverse, Target.self)
    impliedInverse = inverse.map { inverse in { Self.implied(inverse, property, Source.self) } }
  }

  /// A reference to one object.
  public init<Source: StoredObject, Target: StoredObject>(
    _ property: ReferenceWritableKeyPath<Source, Target?>, deleteRule: DeleteRule = .nullify,
    inverse: PartialKeyPath<Target>? = nil
  ) {
    let access = ReferenceAccess(one: property)
    self.init(property, access, deleteRule, inverse, source: Source.self)
  }

  /// An ordered list, in which an object may stand more than once.
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

  /// A set of objects.
  public init<Source: StoredObject, Target: StoredObject>(
    _ property: ReferenceWritableKeyPath<Source, Set<Target>>, deleteRule: DeleteRule = .nullify,
    inverse: PartialKeyPath<Target>? = nil
  ) {
    let access = ReferenceAccess(set: property)
    self.init(property, access, deleteRule, inverse, source: Source.self)
  }

  /// The same with the inverse that the other side has named.
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

import StoreEngine

/// Objects of a class and its subclasses in their order, repeats included, that are made when they
/// are looked at.
///
///     final class Playlist: StoredObject {
///       @Content var title = ""
///       @Content var songs: ObjectList<Song> = []
///
///       override func readContent(from buffer: inout DataBuffer) throws {
///         title = try buffer.readString()
///         songs = try buffer.readList(of: Song.self)
///       }
///     }
///
///     print(playlist.songs.count, playlist.songs[0].title)
///     playlist.songs.append(song)
///     playlist.songs.move(from: 9, to: 0)
///
/// It is used as an array is, and it is the same in a record: a class may change from the one to
/// the other. What differs is the cost. An array of a hundred thousand songs is a hundred thousand
/// objects as soon as its playlist is read. A list that was read is packed, four bytes a song;
/// looking at an element makes that one object, and inserting, removing and moving make none.
///
/// So a packed list does not keep its objects alive, unless they are new: properties without
/// ``Content``, which no record has, last as long as somebody holds the object. ``array`` holds
/// all.
///
/// A list belongs to the isolation domain of its store.
public struct ObjectList<Element: StoredObject> {
  @usableFromInline enum Storage {
    /// Made by the application: holds its objects.
    case objects([Element])
    /// Read from a record.
    case packed(PackedReferences)
  }

  @usableFromInline var storage: Storage

  /// Makes an empty list.
  public init() { storage = .objects([]) }

  /// Makes a list that holds objects.
  ///
  /// Complexity: constant time; the array is shared until one of the two changes.
  public init(_ objects: [Element]) { storage = .objects(objects) }

  /// Makes a list that holds objects.
  public init(_ objects: some Sequence<Element>) { storage = .objects(Array(objects)) }

  init(packed references: PackedReferences) { storage = .packed(references) }

  /// All elements.
  ///
  /// Complexity: linear in the number of elements; each that is not in memory becomes a fault.
  public var array: [Element] {
    if case .objects(let objects) = storage { return objects }
    return Array(self)
  }

  /// The row IDs of the elements, each in its own class; 0 for one that is in no store.
  ///
  /// No object is made.
  ///
  /// Complexity: constant time for a list that was read; linear in its length for another.
  public var rowIDs: [UInt32] {
    switch storage {
    case .objects(let objects): objects.map(\.rowID)
    case .packed(let references): references.rowIDs
    }
  }

  /// The IDs of the elements.
  ///
  /// Complexity: linear in the number of elements; of a list that was read, no object is made.
  public var ids: [ObjectID<Element>] {
    switch storage {
    case .objects(let objects): objects.map { ObjectID($0) }
    case .packed(let references): references.ids()
    }
  }

  /// Moves an element, so that its index is `target` afterwards.
  ///
  /// Complexity: linear in the distance, four bytes for each place; no object is made.
  ///
  /// - Precondition: both are indices of elements.
  public mutating func move(from index: Int, to target: Int) {
    switch take() {
    case .objects(var objects):
      objects.insert(objects.remove(at: index), at: target)
      storage = .objects(objects)
    case .packed(var references):
      references.move(from: index, to: target)
      storage = .packed(references)
    }
  }

  /// The storage, so that it can be changed in place; an empty one stands here meanwhile.
  mutating func take() -> Storage {
    defer { storage = .objects([]) }
    return storage
  }

  /// The objects that only the list may be holding, which it holds no longer; nil without any.
  mutating func takeHeldObjects() -> [StoredObject]? {
    switch take() {
    case .objects(let objects): objects.isEmpty ? nil : objects
    case .packed(let references): references.heldObjects
    }
  }
}

extension ObjectList: ExpressibleByArrayLiteral {
  /// Makes a list that holds the objects.
  public init(arrayLiteral objects: Element...) { storage = .objects(objects) }
}

extension ObjectList: CustomStringConvertible {
  /// The class and the row IDs.
  public var description: String {
    "\(Element.self)[" + rowIDs.map(String.init).joined(separator: ", ") + "]"
  }
}

@available(*, unavailable) extension ObjectList: Sendable {}

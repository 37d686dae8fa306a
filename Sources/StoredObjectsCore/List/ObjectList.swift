import StoreEngine

/// An ordered list of objects, repeats included, which are created when they are accessed.
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
/// Use it like an array:
///
///     print(playlist.songs.count, playlist.songs[0].title)
///     playlist.songs.append(song)
///     playlist.songs.move(from: 9, to: 0)
///
/// The list is of objects of a class and its subclasses. It has the same bytes in a record as an
/// array, so a class can change from one to the other. The difference is the cost. An array of a
/// hundred thousand songs creates a hundred thousand objects as soon as its playlist is read. A
/// list that was read is packed, four bytes a song. Accessing an element creates that one object;
/// inserting, removing and moving create none.
///
/// A packed list does not retain its objects, except new ones. Properties without ``Content``,
/// which no record has, last only as long as something else retains the object. ``array`` retains
/// all objects.
///
/// A list belongs to the isolation domain of its store.
public struct ObjectList<Element: StoredObject> {
  @usableFromInline enum Storage {
    /// Created by the application; retains its objects.
    case objects([Element])
    /// Read from a record.
    case packed(PackedReferences)
  }

  @usableFromInline var storage: Storage

  /// Creates an empty list.
  public init() { storage = .objects([]) }

  /// Creates a list that retains its objects.
  ///
  /// Complexity: constant time; the array is shared until one of the two changes.
  public init(_ objects: [Element]) { storage = .objects(objects) }

  /// Creates a list that retains its objects.
  ///
  /// Complexity: linear in the number of objects.
  public init(_ objects: some Sequence<Element>) { storage = .objects(Array(objects)) }

  init(packed references: PackedReferences) { storage = .packed(references) }

  /// All elements as an array.
  ///
  /// Complexity: linear in the number of elements; each that is not in memory becomes a fault.
  public var array: [Element] {
    if case .objects(let objects) = storage { return objects }
    return Array(self)
  }

  /// The row IDs of the elements, each in its own class; 0 for an object in no store.
  ///
  /// Creates no objects.
  ///
  /// Complexity: constant time for a list that was read; otherwise linear in its length.
  public var rowIDs: [UInt32] {
    switch storage {
    case .objects(let objects): objects.map(\.rowID)
    case .packed(let references): references.rowIDs
    }
  }

  /// The IDs of the elements.
  ///
  /// Complexity: linear in the number of elements; creates no objects for a list that was read.
  public var ids: [ObjectID<Element>] {
    switch storage {
    case .objects(let objects): objects.map { ObjectID($0) }
    case .packed(let references): references.ids()
    }
  }

  /// Moves an element to the index `target`.
  ///
  /// Complexity: linear in the distance, four bytes for each place; creates no objects.
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

  /// Removes and returns the storage, to change it in place; the list is empty meanwhile.
  mutating func take() -> Storage {
    defer { storage = .objects([]) }
    return storage
  }

  /// Empties the list, and returns the objects that it retained; nil if there were none.
  mutating func takeHeldObjects() -> [StoredObject]? {
    switch take() {
    case .objects(let objects): objects.isEmpty ? nil : objects
    case .packed(let references): references.heldObjects
    }
  }
}

extension ObjectList: ExpressibleByArrayLiteral {
  /// Creates a list that retains the objects.
  public init(arrayLiteral objects: Element...) { storage = .objects(objects) }
}

extension ObjectList: CustomStringConvertible {
  /// The class and the row IDs.
  public var description: String {
    "\(Element.self)[" + rowIDs.map(String.init).joined(separator: ", ") + "]"
  }
}

@available(*, unavailable) extension ObjectList: Sendable {}

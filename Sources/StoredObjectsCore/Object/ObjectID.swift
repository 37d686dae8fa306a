/// The identity of an object in a store: its class and its row.
///
///     let id = song.id                      // ObjectID<Song>
///     let same = try store.object(id)       // Song?
///     print(id)                             // Song/42
///     let parsed = ObjectID<Song>("Song/42")
///
/// An ID is a small value that you can send to another task, use as a key of a dictionary, encode,
/// print and parse. It is valid in every store on the same data and in every run of the program,
/// and is never reused. Its type is that of the object: the ID of a playlist does not fetch a song.
/// `ObjectID<StoredObject>` is the ID of any object, for collections of several classes.
///
/// An object gets its ID when it is inserted, and keeps it when it is saved. Before that it has a
/// temporary ID, which differs between objects, fetches nothing and is valid only while the object
/// exists.
public struct ObjectID<Object: StoredObject>: Hashable, Sendable {
  /// The name of the object's own class on disk; see ``StoredObject/storedName``.
  public let className: String
  /// The row of the object in its class; 0 in a temporary ID.
  public let rowID: UInt32
  /// Distinguishes temporary IDs; 0 in others.
  private let identity: UInt

  /// Creates the ID of a row.
  package init(className: String, rowID: UInt32) {
    self.init(className: className, rowID: rowID, identity: 0)
  }

  init(className: String, rowID: UInt32, identity: UInt) {
    (self.className, self.rowID, self.identity) = (className, rowID, identity)
  }

  /// Creates the ID of an object, which is temporary if the object is in no store.
  public init(_ object: Object) {
    if let registration = object.registration, object.rowID > 0 {
      self.init(className: registration.name, rowID: object.rowID)
    } else {
      let identity = UInt(bitPattern: ObjectIdentifier(object))
      self.init(className: type(of: object).storedName, rowID: 0, identity: identity)
    }
  }

  /// Creates the ID of a row of exactly the class `Object`.
  public init(rowID: UInt32) { self.init(className: Object.storedName, rowID: rowID) }

  /// A Boolean value that indicates whether the object is in no store.
  public var isTemporary: Bool { rowID == 0 }

  /// Converts the ID to another type of its object; nil if the object may be of another class.
  ///
  /// Conversion to the ID of a superclass always succeeds. Conversion to that of a subclass
  /// succeeds only if the object is of exactly that class.
  public init?<Other: StoredObject>(_ other: ObjectID<Other>) {
    guard Other.isKind(of: Object.self) || other.className == Object.storedName else {
      return nil
    }
    self.init(className: other.className, rowID: other.rowID, identity: other.identity)
  }
}

extension ObjectID where Object == StoredObject {
  /// Converts the ID of an object of any class.
  public init<Other: StoredObject>(_ other: ObjectID<Other>) {
    self.init(className: other.className, rowID: other.rowID, identity: other.identity)
  }
}

extension ObjectID: LosslessStringConvertible {
  /// The class and the row, as in "Song/42"; "Song/new" for a temporary ID, which can't be parsed.
  public var description: String { "\(className)/\(isTemporary ? "new" : "\(rowID)")" }

  /// Parses an ID such as "Song/42"; nil if the text is not an ID.
  ///
  /// Only a store knows whether the class is `Object` or a subclass: ``Store/object(_:)`` throws if
  /// it is not.
  ///
  /// Complexity: linear in the length of the text.
  public init?(_ description: String) {
    guard let slash = description.lastIndex(of: "/"), slash > description.startIndex else {
      return nil
    }
    let digits = description[description.index(after: slash)...]
    guard let rowID = UInt32(digits), rowID > 1, String(rowID) == digits else { return nil }
    self.init(className: String(description[..<slash]), rowID: rowID)
  }
}

extension ObjectID: Codable {
  /// Encodes the ID as text, such as "Song/42".
  ///
  /// Complexity: linear in the length of the text.
  ///
  /// - Throws: `EncodingError` for a temporary ID.
  public func encode(to encoder: any Encoder) throws {
    if isTemporary {
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: encoder.codingPath,
          debugDescription: "The \(className) is in no store and has no ID yet: insert it first."))
    }
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Decodes the ID from text, such as "Song/42".
  ///
  /// Complexity: linear in the length of the text.
  ///
  /// - Throws: `DecodingError` for a text that is not an ID.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = Self(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\"\(text)\" is not an ID: an ID has the form \"Song/42\".")
    }
    self = id
  }
}

import StoreEngine

/// A declaration of a text by whose words and letters you can search the objects of a class.
///
///     final class Song: StoredObject {
///       @Content var title = ""
///       @Content var artist: String?
///       override class var fullTextAttributes: [FullTextAttribute] {
///         [
///           FullTextAttribute("title", \Song.title, weight: 2),
///           FullTextAttribute("artist", \Song.artist),
///         ]
///       }
///     }
///
/// Search the objects by words of their texts:
///
///     let hits = try store.search(Song.self, "sunny OR walk*", limit: 20)
///
/// The texts are indexed in the same saves as their objects, see <doc:FullTextSearch>. An index
/// that is new or lost is built from the records when it is first needed. So is an index of a class
/// that a program without the index has changed.
///
/// The name must be unique in the class, and is part of the data. If you give the attribute another
/// property, give it another name, too.
public struct FullTextAttribute {
  /// The name, as declared.
  public let name: String
  /// The weight of a match in this attribute for the rank, relative to other attributes.
  public let weight: Double
  let text: (StoredObject) -> String?

  /// Creates an attribute of the texts of a property.
  ///
  /// - Precondition: The weight is above 0.
  public init<Object: StoredObject>(
    _ name: String, _ property: KeyPath<Object, String>, weight: Double = 1
  ) {
    self.init(name, weight: weight) { (object: Object) in object[keyPath: property] }
  }

  /// Creates an attribute of the texts of an optional property; nil is no text.
  ///
  /// - Precondition: The weight is above 0.
  public init<Object: StoredObject>(
    _ name: String, _ property: KeyPath<Object, String?>, weight: Double = 1
  ) {
    self.init(name, weight: weight) { (object: Object) in object[keyPath: property] }
  }

  /// Creates an attribute of texts that a closure makes of the object's own properties.
  ///
  ///     FullTextAttribute("tags") { (song: Song) in song.tags.joined(separator: "\n") }
  ///
  /// Don't use properties of other objects: they can change without a save of this object.
  ///
  /// - Precondition: The weight is above 0.
  public init<Object: StoredObject>(
    _ name: String, weight: Double = 1, text: @escaping (Object) -> String?
  ) {
    precondition(weight > 0, "The weight of \"\(name)\" must be above 0.")
    (self.name, self.weight) = (name, weight)
    self.text = { ($0 as? Object).flatMap(text) }
  }
}

import StoreEngine

/// Says that the objects of a class can be found by the words and the letters of a text.
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
///     let hits = try store.search(Song.self, "sunny OR walk*", limit: 20)
///
/// The texts are indexed in the same saves as their objects, see <doc:FullTextSearch>. An index
/// that is new, or lost, or whose class was changed by a program that did not know it, is made from
/// the records when it is first needed.
///
/// A name is the attribute's own in its class, and part of the data: give another name when you
/// give it another property.
public struct FullTextAttribute {
  /// The name, as declared.
  public let name: String
  /// How much a match in this attribute counts for the rank, against one in others.
  public let weight: Double
  let text: (StoredObject) -> String?

  /// Texts of a property.
  ///
  /// - Precondition: the weight is above 0.
  public init<Object: StoredObject>(
    _ name: String, _ property: KeyPath<Object, String>, weight: Double = 1
  ) {
    self.init(name, weight: weight) { (object: Object) in object[keyPath: property] }
  }

  /// Texts of a property that may be nil, which is no text.
  ///
  /// - Precondition: the weight is above 0.
  public init<Object: StoredObject>(
    _ name: String, _ property: KeyPath<Object, String?>, weight: Double = 1
  ) {
    self.init(name, weight: weight) { (object: Object) in object[keyPath: property] }
  }

  /// Texts that are made of an object's own properties, and of nothing else: what others hold can
  /// change without a save of this object.
  ///
  ///     FullTextAttribute("tags") { (song: Song) in song.tags.joined(separator: "\n") }
  ///
  /// - Precondition: the weight is above 0.
  public init<Object: StoredObject>(
    _ name: String, weight: Double = 1, text: @escaping (Object) -> String?
  ) {
    precondition(weight > 0, "The weight of \"\(name)\" must be above 0.")
    (self.name, self.weight) = (name, weight)
    self.text = { ($0 as? Object).flatMap(text) }
  }
}

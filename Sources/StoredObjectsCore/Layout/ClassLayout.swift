import StoreEngine

/// The properties in the records of a class, in the order in which they are written.
///
/// `@Stored` generates it. A hand-written class may declare its layout, and then needs no code for
/// records of earlier layouts:
///
///     override class var layout: ClassLayout? {
///       ClassLayout(
///         Song.self,
///         [
///           StoredProperty("title", String.self),
///           StoredProperty("seconds", UInt32.self),
///         ])
///     }
///
/// A store keeps every layout that a class has had. It reads a record of another layout property by
/// property, by name. See <doc:ChangingAClass>.
public struct ClassLayout: Sendable {
  /// The class of the layout; a subclass that only inherits the layout is not it.
  let owner: ObjectIdentifier
  /// All properties in order, including those that only earlier versions of the class have.
  public let properties: [StoredProperty]

  /// Creates the layout of a class.
  ///
  /// - Parameters:
  ///   - type: The class itself, which writes these properties and no others.
  ///   - properties: The properties that the class writes, in order.
  public init(_ type: StoredObject.Type, _ properties: [StoredProperty]) {
    owner = ObjectIdentifier(type)
    self.properties = properties
  }

  /// Creates the layout of a class whose superclass has content.
  ///
  /// Returns nil if the superclass has no layout of its own.
  ///
  /// Complexity: linear in the number of properties.
  ///
  /// - Parameters:
  ///   - type: The class itself.
  ///   - superclassLayout: `super.layout`, whose properties come first.
  ///   - superclass: The superclass.
  ///   - properties: The properties that the class itself writes after those, in order.
  public init?(
    _ type: StoredObject.Type, following superclassLayout: ClassLayout?,
    of superclass: StoredObject.Type, _ properties: [StoredProperty]
  ) {
    guard let superclassLayout, superclassLayout.owner == ObjectIdentifier(superclass) else {
      return nil
    }
    self.init(type, superclassLayout.properties + properties)
  }

  /// Returns the properties in the records that a version of the class writes.
  func properties(at version: UInt8) -> [StoredProperty] {
    properties.filter { $0.isIn(version) }
  }
}

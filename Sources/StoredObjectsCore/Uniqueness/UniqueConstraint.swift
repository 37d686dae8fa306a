/// Says that no two objects of a class have the same value in a property, or in several together.
///
///     final class Song: StoredObject {
///       @Content var number: Int64 = 0
///       override class var uniqueConstraints: [UniqueConstraint] { [UniqueConstraint(\Song.number)] }
///     }
///
/// `@Stored` makes it of `@Unique`. A save that would break it throws `notUnique` and writes nothing.
/// An object with nil in one of the properties is not compared, as in SQL. Each class is for itself:
/// an object of a subclass is no object of its superclass here.
///
/// The first save that has to compare reads all objects of the class once, and then remembers the
/// values: about 100 bytes for each object.
public struct UniqueConstraint {
  let properties: [AnyKeyPath]
  /// The values of an object; nil when one of them is nil.
  let values: (StoredObject) -> [AnyHashable]?

  /// No two objects have the same value in the property.
  public init<Object: StoredObject, Value: Hashable>(_ property: KeyPath<Object, Value>) {
    self.init([property]) { object in
      UniqueConstraint.value(object, property).map { [$0] }
    }
  }

  /// No two objects have the same values in both properties.
  public init<Object: StoredObject, First: Hashable, Second: Hashable>(
    _ first: KeyPath<Object, First>, _ second: KeyPath<Object, Second>
  ) {
    self.init([first, second]) { object in
      guard let one = UniqueConstraint.value(object, first),
        let other = UniqueConstraint.value(object, second)
      else { return nil }
      return [one, other]
    }
  }

  private init(_ properties: [AnyKeyPath], _ values: @escaping (StoredObject) -> [AnyHashable]?) {
    (self.properties, self.values) = (properties, values)
  }

  private static func value<Object: StoredObject, Value: Hashable>(
    _ object: StoredObject, _ property: KeyPath<Object, Value>
  ) -> AnyHashable? {
    guard let object = object as? Object else { return nil }
    let value = object[keyPath: property]
    if let optional = value as? any AnyOptional, optional.isNil { return nil }
    return AnyHashable(value)
  }
}

protocol AnyOptional {
  var isNil: Bool { get }
}

extension Optional: AnyOptional {
  var isNil: Bool { self == nil }
}

import StoreEngine

// `Identifiable` has a single ID type for a class and all its subclasses: the ID of any object. A
// protocol extension can use `Self`, and so gives each class an ID type of its own. There are two
// protocols because one can't declare `id` twice.

/// A type whose objects have an ID of the type of their class.
public protocol ObjectIdentity: StoredObject {}

extension ObjectIdentity {
  /// The ID of the object, which is temporary until the object is inserted.
  ///
  /// A class may declare its own `id` instead; then use `ObjectID(self)` for this one.
  public var id: ObjectID<Self> { ObjectID(self) }
}

/// A type whose objects have the ID that `Identifiable` requires.
public protocol AnyObjectIdentity: StoredObject {}

extension AnyObjectIdentity {
  /// The ID of the object, with the type of any object's ID.
  @_disfavoredOverload public var id: ObjectID<StoredObject> { ObjectID(self) }
}

extension StoredObject: ObjectIdentity, AnyObjectIdentity, Identifiable {
  /// The ID of any object, so that lists of several classes have a single ID type.
  public typealias ID = ObjectID<StoredObject>
}

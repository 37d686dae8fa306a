import StoreEngine

// `Identifiable` has one type of ID for a class and all its subclasses: the ID of any object. An
// extension of a protocol can say `Self`, and gives each class a type of ID of its own. There are
// two protocols because one can't have `id` twice.

/// What gives objects an ID of the type of their class.
public protocol ObjectIdentity: StoredObject {}

extension ObjectIdentity {
  /// The ID of the object, temporary until it is inserted.
  ///
  /// A class may declare an `id` of its own instead; then `ObjectID(self)` makes this one.
  public var id: ObjectID<Self> { ObjectID(self) }
}

/// What gives objects the ID that `Identifiable` has.
public protocol AnyObjectIdentity: StoredObject {}

extension AnyObjectIdentity {
  /// The ID of the object as that of any object.
  @_disfavoredOverload public var id: ObjectID<StoredObject> { ObjectID(self) }
}

extension StoredObject: ObjectIdentity, AnyObjectIdentity, Identifiable {
  /// The ID of any object, so that lists of several classes have one type of ID.
  public typealias ID = ObjectID<StoredObject>
}

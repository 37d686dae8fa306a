import StoreEngine

/// A property that is part of its object's content.
///
///     final class Playlist: StoredObject {
///       @Content var title = ""
///       @Content var songs: [Song] = []
///     }
///
/// Reading the property of a fault reads the object's record first. Changing it notifies the store.
/// Both cost a flag test if there is nothing to do, and a list is changed in place. If a record
/// can't be read, see ``StoredObject/checkForContent()``.
///
/// A property without `@Content` is never saved, and starts with its default in every run.
@propertyWrapper
public struct Content<Value> {
  @usableFromInline var value: Value

  /// Creates the property with its default.
  @inlinable public init(wrappedValue: Value) { value = wrappedValue }

  /// Unavailable: only subclasses of ``StoredObject`` have content.
  @available(*, unavailable, message: "@Content is for properties of StoredObject subclasses")
  public var wrappedValue: Value {
    get { value }
    set { value = newValue }
  }

  /// Accesses the property of an object.
  ///
  /// Complexity: reading is a flag test, or as ``StoredObject/checkForContent()``. Changing is as
  /// ``StoredObject/willUpdate()``; a list is changed in place.
  @inlinable
  public static subscript<Object: StoredObject>(
    _enclosingInstance object: Object,
    wrapped property: ReferenceWritableKeyPath<Object, Value>,
    storage storage: ReferenceWritableKeyPath<Object, Self>
  ) -> Value {
    get {
      if !object.isReadable { object.willRead() }
      return object[keyPath: storage].value
    }
    _modify {
      if object.isPlain { object.willChange() } else { object.willModify() }
      defer { if !object.isPlain { object.didModify() } }
      // A single `yield`: with two, the compiler calls the runtime to follow the key path.
      yield &object[keyPath: storage].value
    }
  }
}

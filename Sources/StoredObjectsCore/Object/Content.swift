import StoreEngine

/// Marks a property as part of its object's content.
///
///     final class Playlist: StoredObject {
///       @Content var title = ""
///       @Content var songs: [Song] = []
///     }
///
/// Reading the property of a fault reads its record first; changing it tells the store. Both cost a
/// flag test when there is nothing to do, and a list is changed in place. What happens when a
/// record can't be read is told at ``StoredObject/checkForContent()``.
///
/// A property without `@Content` is the object's own business: it is never saved, and starts with
/// its default in every run.
@propertyWrapper
public struct Content<Value> {
  @usableFromInline var value: Value

  /// Gives the property its default.
  @inlinable public init(wrappedValue: Value) { value = wrappedValue }

  /// Only subclasses of ``StoredObject`` have content.
  @available(*, unavailable, message: "@Content is for properties of StoredObject subclasses")
  public var wrappedValue: Value {
    get { value }
    set { value = newValue }
  }

  /// Gives access to the property of an object.
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
      // Only one `yield`: with two the compiler calls the runtime to follow the key path.
      yield &object[keyPath: storage].value
    }
  }
}

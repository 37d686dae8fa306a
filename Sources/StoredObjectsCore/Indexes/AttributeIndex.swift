import StoreEngine

/// An index of the objects of a class by a property, or by several together.
///
///     final class Song: StoredObject {
///       @Content var title = ""
///       @Content var artist = ""
///       override class var indexes: [AttributeIndex] {
///         [
///           AttributeIndex("title", \Song.title),
///           AttributeIndex("artist and title", \Song.artist, \Song.title),
///         ]
///       }
///     }
///
/// Each save of a class also updates its indexes. Queries use them automatically, see
/// <doc:FindingObjects>: for equality, ranges and prefixes of their properties, from the first
/// property on, and for sorting by them. An index that is new or lost, or whose class was
/// changed by a program that does not know it, is built from the records when it is first needed.
///
/// A save that would give two objects the same values in a unique index throws `notUnique`, and
/// writes nothing. As in SQL, objects with nil in one of the properties are not compared; nor are
/// those with NaN. Classes are separate: an object of a subclass is not compared with those of its
/// superclass. Objects that had the same values before the index became unique stay as they are
/// until a save writes one of them; ``Store/check(progress:)`` reports them.
///
/// The name is unique in the class, and part of the data: use another name if you change the
/// properties.
public struct AttributeIndex {
  /// The name of the index, as declared.
  public let name: String
  /// A Boolean value that indicates whether no two objects may have the same values.
  ///
  /// Objects with nil or NaN in one of the properties are not compared.
  public let isUnique: Bool
  private(set) var properties: [AnyKeyPath]
  /// The types of the properties, by which a change of the declaration is detected.
  let signature: String
  /// Whether an object has a key for each of several values.
  let isMultiple: Bool
  /// Returns the keys of an object without its row ID, and whether each is exempt from uniqueness.
  ///
  /// A key is exempt if one of its values equals no other value, such as nil.
  let keys: (StoredObject) -> [(bytes: [UInt8], isExempt: Bool)]

  /// Appends the only key of an object; nil if there may be several, or if keys have to be unique.
  var writeOnlyKey: ((StoredObject, inout IndexKey) -> Void)?

  private init(
    _ name: String, isUnique: Bool, isMultiple: Bool, _ properties: [AnyKeyPath],
    keys: @escaping (StoredObject) -> [(bytes: [UInt8], isExempt: Bool)]
  ) {
    (self.name, self.isUnique, self.isMultiple) = (name, isUnique, isMultiple)
    (self.properties, self.keys) = (properties, keys)
    signature = properties.map { Self.signature(of: type(of: $0).valueType) }
      .joined(separator: ", ")
  }

  /// Returns the signature of a property's type; for folded texts it includes the Unicode version.
  private static func signature(of type: Any.Type) -> String {
    let folded: [Any.Type] = [
      FoldedString.self, FoldedString?.self, AlphabeticString.self, AlphabeticString?.self,
    ]
    let isFolded = folded.contains { $0 == type }
    return isFolded ? "\(type) of Unicode \(ScalarFolding.unicodeVersion)" : "\(type)"
  }

  /// Creates an index with one key for each object, of one or several properties.
  @usableFromInline init(_ name: String, isUnique: Bool, parts: [Part]) {
    self.init(name, isUnique: isUnique, isMultiple: false, parts.map(\.property)) { object in
      var key = IndexKey()
      var isExempt = false
      for part in parts {
        part.write(object, &key)
        if let isEqualToNone = part.isEqualToNone, isEqualToNone(object) { isExempt = true }
      }
      return [(key.bytes, isExempt)]
    }
    if isUnique { return }
    writeOnlyKey =
      parts.count == 1
      ? parts[0].write : { object, key in for part in parts { part.write(object, &key) } }
  }

  /// One property of an index.
  @usableFromInline struct Part {
    let property: AnyKeyPath
    /// Appends the value of an object's property to a key.
    let write: (StoredObject, inout IndexKey) -> Void
    /// Whether the value equals no other value; nil for types without such values.
    let isEqualToNone: ((StoredObject) -> Bool)?

    /// Creates a part for a property.
    ///
    /// Inlinable, because a save may need the keys of millions of objects.
    @inlinable init<Object: StoredObject, Value: IndexableValue>(
      _ property: KeyPath<Object, Value>
    ) {
      self.init(property) { object, key in
        (object as? Object)?[keyPath: property].writeKey(to: &key)
      }
    }

    @usableFromInline init<Object: StoredObject, Value: IndexableValue>(
      _ property: KeyPath<Object, Value>,
      write: @escaping (StoredObject, inout IndexKey) -> Void
    ) {
      (self.property, self.write) = (property, write)
      let isComparable = Value.self is any FixedWidthInteger.Type || Value.self == String.self
      isEqualToNone =
        isComparable
        ? nil
        : { object in
          (object as? Object).map { hasNoEqual($0[keyPath: property]) } ?? false
        }
    }
  }

  /// Returns the index of a subclass, which has key paths of its own.
  func inherited(by type: StoredObject.Type) -> AttributeIndex {
    var index = self
    index.properties = properties.map { $0.inherited(by: type) }
    return index
  }

  /// Creates an index by a property.
  @inlinable public init<Object: StoredObject, Value: IndexableValue>(
    _ name: String, _ property: KeyPath<Object, Value>, isUnique: Bool = false
  ) {
    self.init(name, isUnique: isUnique, parts: [Part(property)])
  }

  /// Creates an index by two properties, the first of which counts most.
  @inlinable
  public init<
    Object: StoredObject, First: IndexableValue, Second: IndexableValue
  >(
    _ name: String, _ first: KeyPath<Object, First>, _ second: KeyPath<Object, Second>,
    isUnique: Bool = false
  ) {
    self.init(name, isUnique: isUnique, parts: [Part(first), Part(second)])
  }

  /// Creates an index by three properties, the first of which counts most.
  @inlinable
  public init<
    Object: StoredObject, First: IndexableValue, Second: IndexableValue, Third: IndexableValue
  >(
    _ name: String, _ first: KeyPath<Object, First>, _ second: KeyPath<Object, Second>,
    _ third: KeyPath<Object, Third>, isUnique: Bool = false
  ) {
    self.init(name, isUnique: isUnique, parts: [Part(first), Part(second), Part(third)])
  }

  /// Creates an index by the objects in a list or a set.
  ///
  /// An object can be found by any of the objects that it refers to.
  ///
  /// See ``Store/referrers(of:through:includingSubclasses:)-(StoredObject,_,_)``.
  public init<Object: StoredObject, List: Collection>(
    _ name: String, toMany property: KeyPath<Object, List>
  ) where List.Element: StoredObject {
    self.init(name, isUnique: false, isMultiple: true, [property]) { object in
      guard let object = object as? Object else { return [] }
      let keys = Set(object[keyPath: property].map { IndexKey($0).bytes })
      return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { ($0, false) }
    }
  }
}

/// Whether a value equals no other, such as nil, NaN, or a reference to an object in no store.
private func hasNoEqual(_ value: some Any) -> Bool {
  func differs<Known: Equatable>(_ value: Known) -> Bool { value != value }
  if let optional = value as? any AnyOptional, optional.isNil { return true }
  if let object = value as? StoredObject { return object.registration == nil }
  return (value as? any Equatable).map { differs($0) } ?? false
}

private protocol AnyOptional {
  var isNil: Bool { get }
}

extension Optional: AnyOptional {
  fileprivate var isNil: Bool { self == nil }
}

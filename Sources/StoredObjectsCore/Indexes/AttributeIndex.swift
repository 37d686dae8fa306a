import StoreEngine

/// Says that the objects of a class can be found by the values of a property, or of several
/// together.
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
/// An index is kept in the same saves as its class. Queries use it by themselves, see
/// <doc:FindingObjects>: for equality, ranges and beginnings of its properties from the first on,
/// and for sorting by them. One that is new, or lost, or whose class was changed by a program that
/// did not know it, is made from the records when it is first needed.
///
/// A save that would give two objects the same values by a unique index throws `notUnique`, and
/// writes nothing. Objects with nil in one of the properties are not compared, as in SQL, nor are
/// those with NaN. Each class is for itself: an object of a subclass is no object of its superclass
/// here. Objects that had the same values before the index was unique stay as they are, and
/// ``Store/check(progress:)`` names them, until a save writes one of them.
///
/// A name is the index's own in its class, and part of the data: give another name when you give it
/// another property.
public struct AttributeIndex {
  /// The name, as declared.
  public let name: String
  /// Whether no two objects may have the same values; those with nil or NaN in one are not
  /// compared.
  public let isUnique: Bool
  private(set) var properties: [AnyKeyPath]
  /// The types of the properties, by which a change of the declaration is noticed.
  let signature: String
  /// Whether an object has a key for each of several values.
  let isMultiple: Bool
  /// The keys of an object, without its row, and whether one of their values is equal to none.
  let keys: (StoredObject) -> [(bytes: [UInt8], isExempt: Bool)]

  /// Appends the only key of an object; nil where there may be several, or it has to be looked at.
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

  /// What the keys of a property depend on; of folded texts that is Unicode, too.
  private static func signature(of type: Any.Type) -> String {
    let isFolded = type == FoldedString.self || type == FoldedString?.self
    return isFolded ? "\(type) of Unicode \(ScalarFolding.unicodeVersion)" : "\(type)"
  }

  /// Objects have one key each, of several properties.
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
    /// Appends the value.
    let write: (StoredObject, inout IndexKey) -> Void
    /// Whether the value is equal to no other; nil for types that have no such value.
    let isEqualToNone: ((StoredObject) -> Bool)?

    /// Compiled where the property is known: a save asks millions of objects for their keys.
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

  /// The index as a subclass has it, whose key paths are its own.
  func inherited(by type: StoredObject.Type) -> AttributeIndex {
    var index = self
    index.properties = properties.map { $0.inherited(by: type) }
    return index
  }

  /// Objects can be found by a property.
  @inlinable public init<Object: StoredObject, Value: IndexableValue>(
    _ name: String, _ property: KeyPath<Object, Value>, isUnique: Bool = false
  ) {
    self.init(name, isUnique: isUnique, parts: [Part(property)])
  }

  /// Objects can be found by two properties, of which the first counts most.
  @inlinable
  public init<
    Object: StoredObject, First: IndexableValue, Second: IndexableValue
  >(
    _ name: String, _ first: KeyPath<Object, First>, _ second: KeyPath<Object, Second>,
    isUnique: Bool = false
  ) {
    self.init(name, isUnique: isUnique, parts: [Part(first), Part(second)])
  }

  /// Objects can be found by three properties, of which the first counts most.
  @inlinable
  public init<
    Object: StoredObject, First: IndexableValue, Second: IndexableValue, Third: IndexableValue
  >(
    _ name: String, _ first: KeyPath<Object, First>, _ second: KeyPath<Object, Second>,
    _ third: KeyPath<Object, Third>, isUnique: Bool = false
  ) {
    self.init(name, isUnique: isUnique, parts: [Part(first), Part(second), Part(third)])
  }

  /// Objects can be found by any of the objects that they refer to in a list or a set.
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

/// Whether a value is equal to no other, as nil, NaN, or a reference to what is in no store.
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

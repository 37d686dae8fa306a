import FoundationEssentials
import StoreEngine

/// A property that an index may hold: of the object, or of an object that it refers to.
struct IndexedProperty<Value> {
  /// The key path, if it is a property of the object itself; otherwise nil.
  let path: AnyKeyPath?
  /// Returns the condition that the value is in some ranges.
  ///
  /// The closure holds for exactly the values in the ranges.
  let condition: (KeyRanges, _ holds: @escaping (Value) -> Bool) -> Condition

  /// Creates a property of the object itself.
  init(_ path: AnyKeyPath) {
    self.path = path
    condition = { ranges, _ in .values(path, ranges) }
  }

  /// Creates a property with a condition of another form.
  init(condition: @escaping (KeyRanges, _ holds: @escaping (Value) -> Bool) -> Condition) {
    (path, self.condition) = (nil, condition)
  }

  /// Returns the property with nil replaced by a value.
  func coalesced<Wrapped>(with stopgap: Wrapped) -> IndexedProperty<Wrapped>
  where Value == Wrapped? {
    IndexedProperty<Wrapped> { ranges, holds in
      condition(ranges.optional(withNil: holds(stopgap))) { holds($0 ?? stopgap) }
    }
  }
}

extension QueryTerm {
  /// The property, if the term is one.
  var indexed: IndexedProperty<Output>? {
    if case .property(let property) = kind { property } else { nil }
  }

  /// Returns the property and the value, if one term is a property and the other a constant.
  ///
  /// `isFlipped` is true if the value is on the left.
  func pair(
    _ other: QueryTerm<Object, Output>
  ) -> (property: IndexedProperty<Output>, value: Output, isFlipped: Bool)? {
    switch (indexed, other.indexed, kind, other.kind) {
    case (let property?, _, _, .constant(let value)): (property, value, false)
    case (_, let property?, .constant(let value), _): (property, value, true)
    default: nil
    }
  }
}

extension QueryTranslation {
  /// Returns the bytes of a value in an index, or nil if no index can hold it.
  ///
  /// The static type decides, not the value: an optional has other bytes than the value it wraps.
  /// The ID of an object has the bytes of a reference to the object.
  func key<Value>(of value: Value) -> [UInt8]? {
    func idKey<Known: ObjectIDValue>(_: Known.Type) -> [UInt8]? {
      (value as? Known).flatMap { $0.referenceKey(in: store) }
    }
    if Value.self is any IndexableValue.Type { return indexKeyBytes(of: value) }
    return (Value.self as? any ObjectIDValue.Type).flatMap { idKey($0) }
  }
}

/// An ID of an object, or an optional one.
private protocol ObjectIDValue {
  /// Returns the bytes of a reference to the object, or nil if the store can't have the object.
  func referenceKey(in store: Store) -> [UInt8]?
}

extension ObjectID: ObjectIDValue {
  func referenceKey(in store: Store) -> [UInt8]? {
    guard !isTemporary, let entry = store.classes.first(where: { $0.name == className }) else {
      return nil
    }
    return entry.referenceKey(rowID)
  }
}

extension Optional: ObjectIDValue where Wrapped: ObjectIDValue {
  fileprivate func referenceKey(in store: Store) -> [UInt8]? {
    switch self {
    case nil: [0]
    case let id?: id.referenceKey(in: store).map { [1] + $0 }
    }
  }
}

extension RegisteredClass {
  /// Returns the bytes of a reference to a row in an index.
  func referenceKey(_ rowID: UInt32) -> [UInt8] {
    var key = IndexKey()
    key.bytes.append(classID)
    key.write(rowID)
    return key.bytes
  }
}

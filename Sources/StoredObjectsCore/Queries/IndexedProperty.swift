import FoundationEssentials
import StoreEngine

/// A property whose values an index may know: of the object, or of an object that it refers to.
struct IndexedProperty<Value> {
  /// The property of the object itself; nil for any other.
  let path: AnyKeyPath?
  /// The condition that the value is in some ranges, which are those of the values for which the
  /// closure holds.
  let condition: (KeyRanges, _ holds: @escaping (Value) -> Bool) -> Condition

  /// A property of the object.
  init(_ path: AnyKeyPath) {
    self.path = path
    condition = { ranges, _ in .values(path, ranges) }
  }

  /// A property that is asked for in another way.
  init(condition: @escaping (KeyRanges, _ holds: @escaping (Value) -> Bool) -> Condition) {
    (path, self.condition) = (nil, condition)
  }

  /// The property with a value in the place of nil.
  func coalesced<Wrapped>(with stopgap: Wrapped) -> IndexedProperty<Wrapped>
  where Value == Wrapped? {
    IndexedProperty<Wrapped> { ranges, holds in
      condition(ranges.optional(withNil: holds(stopgap))) { holds($0 ?? stopgap) }
    }
  }
}

extension QueryTerm {
  /// The property, where the term is one.
  var indexed: IndexedProperty<Output>? {
    if case .property(let property) = kind { property } else { nil }
  }

  /// The property and the value, where one side is the one and the other side the other.
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
  /// The bytes of a value in an index; nil for one that no index can have.
  ///
  /// By the type, and not by the value: an optional is not what it wraps. The ID of an object is
  /// what a reference to it is.
  func key<Value>(of value: Value) -> [UInt8]? {
    func key<Known: IndexableValue>(_: Known.Type) -> [UInt8]? {
      (value as? Known).map { IndexKey($0).bytes }
    }
    func idKey<Known: ObjectIDValue>(_: Known.Type) -> [UInt8]? {
      (value as? Known).flatMap { $0.referenceKey(in: store) }
    }
    if let type = Value.self as? any IndexableValue.Type { return key(type) }
    return (Value.self as? any ObjectIDValue.Type).flatMap { idKey($0) }
  }
}

/// The ID of an object, optional or not.
private protocol ObjectIDValue {
  /// The bytes of a reference to the object in an index; nil where a store has no such object.
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
  /// The bytes of a reference to a row in an index.
  func referenceKey(_ rowID: UInt32) -> [UInt8] {
    var key = IndexKey()
    key.bytes.append(classID)
    key.write(rowID)
    return key.bytes
  }
}

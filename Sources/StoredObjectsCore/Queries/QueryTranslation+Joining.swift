import FoundationEssentials
import StoreEngine

// What is asked of the objects that an object refers to becomes what is asked of the reference,
// where indexes find those objects.

/// So many objects are found at most, to be asked for as references: each costs a look-up.
private let joinedCount = 256

extension QueryTranslation {
  /// A property of the value of another property; nil where no index can know it.
  ///
  /// That is one of an object that is referred to without `?`, or one that has an index, such as
  /// `title.folded`.
  func property<Target, Value>(
    _ path: KeyPath<Target, Value>, of reference: IndexedProperty<Target>
  ) -> IndexedProperty<Value>? {
    if let whole = reference.path?.appending(path: path),
      indexes.contains(where: { $0.declaration.properties.contains(whole) })
    {
      return IndexedProperty(whole)
    }
    func open<Known: ObjectIdentity>(_: Known.Type) -> IndexedProperty<Value>? {
      guard let path = path as? KeyPath<Known, Value>,
        let reference = reference as? IndexedProperty<Known>
      else { return nil }
      return IndexedProperty { ranges, holds in
        joined(
          reference, { $0 }, matchesNil: nil,
          QueryTerm(
            read: { holds($0[keyPath: path]) }, condition: .values(path, ranges), text: ""))
      }
    }
    return (Target.self as? any ObjectIdentity.Type).flatMap { open($0) }
  }

  /// The condition that a reference leads to an object of which another condition holds.
  ///
  /// - Parameters:
  ///   - reference: A property of the object, or of one that it refers to.
  ///   - target: Gives the object that is referred to.
  ///   - matchesNil: Whether nil is right, too; itself nil for a reference that is not optional.
  ///   - term: What is asked of the object that is referred to.
  /// - Returns: The values of the reference; ``Condition/other`` where no index helps.
  func joined<Reference, Target: StoredObject>(
    _ reference: IndexedProperty<Reference>, _ target: @escaping (Reference) -> Target?,
    matchesNil: Bool?, _ term: QueryTerm<Target, Bool>
  ) -> Condition {
    // Not worth it unless something is known about the reference.
    if let path = reference.path, !hasIndex(of: path) { return .other }
    guard var keys = keys(of: term) else { return .other }
    if let matchesNil {
      keys = keys.map { [1] + $0 }
      if matchesNil { keys.append([0]) }
    }
    return reference.condition(KeyRanges(keys.map { .prefix($0) }, points: Set(keys))) {
      target($0).map { (try? term.read($0)) ?? false } ?? matchesNil ?? false
    }
  }

  /// The condition that a list has an element of which another condition holds.
  func element<Target: StoredObject>(
    of list: AnyKeyPath, _ term: QueryTerm<Target, Bool>
  ) -> Condition {
    let isIndexed = indexes.contains {
      $0.declaration.isMultiple && $0.declaration.properties.first == list
    }
    guard isIndexed, let keys = keys(of: term) else { return .other }
    return .element(list, KeyRanges(keys.map { .prefix($0) }, points: Set(keys)))
  }

  private func hasIndex(of property: AnyKeyPath) -> Bool {
    indexes.contains {
      !$0.declaration.isMultiple && $0.declaration.properties.contains(property)
    }
  }

  /// The references to all objects of which a condition holds; nil where too many objects would
  /// have to be looked at.
  private func keys<Target: StoredObject>(of term: QueryTerm<Target, Bool>) -> [[UInt8]]? {
    if case .other = term.condition { return nil }
    guard let entries = try? store.registrations(of: Target.self, includingSubclasses: true) else {
      return nil
    }
    var keys: [[UInt8]] = []
    for entry in entries {
      guard let query = try? Query(store, entry, term.of(entry), isExplained: isExplained),
        let rows = try? query.allRows(atMost: joinedCount - keys.count)
      else { return nil }
      keys += rows.map { entry.referenceKey($0) }
    }
    return keys
  }
}

extension QueryTerm where Output == Bool {
  /// The same with the properties as the indexes of a class have them.
  fileprivate func of(_ entry: RegisteredClass) -> QueryTerm {
    if entry.type == Object.self { return self }
    return QueryTerm(read: read, condition: condition.inherited(by: entry.type), text: text)
  }
}

extension Condition {
  fileprivate func inherited(by type: StoredObject.Type) -> Condition {
    switch self {
    case .values(let path, let ranges): .values(path.inherited(by: type), ranges)
    case .element(let path, let ranges): .element(path.inherited(by: type), ranges)
    case .all(let parts): .all(parts.map { $0.inherited(by: type) })
    case .any(let parts): .any(parts.map { $0.inherited(by: type) })
    case .other: .other
    }
  }
}

extension Query {
  /// The rows of all objects that are found; nil where more than a number may have to be looked at.
  fileprivate func allRows(atMost count: Int) throws -> [UInt32]? {
    guard choice.touchedCount + unsaved.count <= count else { return nil }
    var walk = QueryWalk(self, limit: nil, offset: 0, after: nil)
    var rows: [UInt32] = []
    while let object = try walk.next() { rows.append(object.rowID) }
    return rows
  }
}

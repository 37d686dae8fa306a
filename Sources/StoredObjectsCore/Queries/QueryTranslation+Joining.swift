import FoundationEssentials
import StoreEngine

// Conditions on referenced objects become conditions on the reference, if indexes find those
// objects.

/// The maximum number of objects that a join collects: each key costs a look-up.
private let joinedCount = 256

extension QueryTranslation {
  /// Returns a property of the value of another property, or nil if no index can know it.
  ///
  /// It is a property of an object that is referenced without `?`, or a property with an index,
  /// such as `title.folded`.
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

  /// Returns the condition that a reference leads to an object that meets another condition.
  ///
  /// - Parameters:
  ///   - reference: A property of the object, or of one that it refers to.
  ///   - target: Returns the referenced object.
  ///   - matchesNil: Whether nil meets the condition; itself nil for a non-optional reference.
  ///   - term: The condition on the referenced object.
  /// - Returns: The values of the reference, or ``Condition/other`` if no index helps.
  func joined<Reference, Target: StoredObject>(
    _ reference: IndexedProperty<Reference>, _ target: @escaping (Reference) -> Target?,
    matchesNil: Bool?, _ term: QueryTerm<Target, Bool>
  ) -> Condition {
    // Without an index on the reference, the join is not worth it.
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

  /// Returns the condition that a list has an element that meets another condition.
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

  /// Returns the references to all objects that meet a condition; nil if that needs too many reads.
  private func keys<Target: StoredObject>(of term: QueryTerm<Target, Bool>) -> [[UInt8]]? {
    if case .other = term.condition { return nil }
    guard let entries = try? store.registrations(of: Target.self, includingSubclasses: true) else {
      return nil
    }
    store.collectChangesElsewhere()
    var keys: [[UInt8]] = []
    for entry in entries {
      // Lists and references here still lead to objects that other stores have deleted, and those
      // that others have saved lead to objects that are deleted here. No query finds those objects.
      if store.foreign.hasDeleted(entry.classID) || entry.changeCounts.deletes > 0 { return nil }
      guard let query = try? Query(store, entry, term.of(entry), isExplained: isExplained),
        let rows = try? query.allRows(atMost: joinedCount - keys.count)
      else { return nil }
      keys += rows.map { entry.referenceKey($0) }
    }
    return keys
  }
}

extension QueryTerm where Output == Bool {
  /// Returns the term with the properties as the indexes of a class name them.
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
  /// Returns the rows of all matches; nil if it might have to look at more than `count` objects.
  fileprivate func allRows(atMost count: Int) throws -> [UInt32]? {
    guard choice.touchedCount + unsaved.count <= count else { return nil }
    var walk = QueryWalk(self, limit: nil, offset: 0, after: nil)
    var rows: [UInt32] = []
    while let object = try walk.next() { rows.append(object.rowID) }
    return rows
  }
}

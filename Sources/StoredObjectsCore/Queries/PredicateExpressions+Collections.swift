import FoundationEssentials
import StoreEngine

// Collections and strings.

extension PredicateExpressions.SequenceContains: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (all, one) = (translation.term(of: sequence), translation.term(of: element))
    let (elements, element) = (all.read, one.read)
    let text = { "\(one.text) IN \(all.text)" }
    guard case .constant(let constant) = all.kind else {
      return QueryTerm(read: { try elements($0).contains(element($0)) }, text: text())
    }
    // The set saves hashing the constant for every object.
    let values = Array(constant)
    let set = (values as? [any Hashable]).map { Set($0.map { AnyHashable($0) }) }
    return QueryTerm(
      read: { object in
        let value = try element(object)
        if let set, values.count > 8, let value = value as? any Hashable {
          return set.contains(AnyHashable(value))
        }
        return values.contains(value)
      }, condition: Self.condition(one, values, translation.key), text: text())
  }

  private static func condition<Object>(
    _ element: QueryTerm<Object, RHS.Output>, _ values: [LHS.Output.Element],
    _ key: (LHS.Output.Element) -> [UInt8]?
  ) -> Condition {
    guard let property = element.indexed else { return .other }
    var points: Set<[UInt8]> = []
    for value in values {
      // A value that is not equal to itself is in no collection.
      if value != value { continue }
      guard let key = key(value) else { return .other }
      points.insert(key)
    }
    let ranges = KeyRanges(points.map { .prefix($0) }, points: points)
    return property.condition(ranges) { values.contains($0) }
  }
}

extension PredicateExpressions.SequenceStartsWith: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (all, start) = (translation.term(of: base), translation.term(of: prefix))
    let (base, prefix) = (all.read, start.read)
    return QueryTerm(
      read: { try base($0).starts(with: prefix($0)) },
      condition: Self.condition(all, start),
      text: "\(all.text) STARTS WITH \(start.text)")
  }

  /// Returns the condition that a text begins with another.
  ///
  /// Such texts sort at or after the prefix and before its successor. The last character may
  /// continue in the bytes that follow: "e" with a combining accent does not begin with "e",
  /// although its bytes do. So the range is not exact, and each object is checked as well.
  private static func condition<Object>(
    _ base: QueryTerm<Object, Base.Output>, _ prefix: QueryTerm<Object, Prefix.Output>
  ) -> Condition {
    guard let property = base.indexed, case .constant(let value) = prefix.kind,
      let value = value as? Base.Output, var key = textKey(value)
    else { return .other }
    key.removeLast()
    let ranges = KeyRanges([.prefix(key)])
    return .all([property.condition(ranges) { $0.starts(with: value) }, .other])
  }
}

/// Returns the bytes of a text in an index, or nil for another sequence.
private func textKey(_ text: some Sequence) -> [UInt8]? {
  if let text = text as? String { return IndexKey(text).bytes }
  return (text as? FoldedString).map { IndexKey($0).bytes }
}

extension PredicateExpressions.CollectionContainsCollection: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (all, part) = (translation.term(of: base), translation.term(of: other))
    let (base, other) = (all.read, part.read)
    let text = { "\(all.text) CONTAINS \(part.text)" }
    return QueryTerm(
      read: { object in
        let (whole, part) = (try base(object), try other(object))
        if part.isEmpty { return true }
        var rest = whole[...]
        while !rest.isEmpty {
          if rest.starts(with: part) { return true }
          rest = rest.dropFirst()
        }
        return false
      }, text: text())
  }
}

import FoundationEssentials

// Ranges, and what is in them.

extension PredicateExpressions.Range: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let (low, high) = (translation.term(of: lower), translation.term(of: upper))
    guard case .constant(let from) = low.kind, case .constant(let to) = high.kind, from <= to else {
      return translation.evaluated(self)
    }
    let range = from..<to
    return QueryTerm(
      read: { _ in range }, kind: .constant(range), text: "\(low.text)..<\(high.text)")
  }
}

extension PredicateExpressions.ClosedRange: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    let (low, high) = (translation.term(of: lower), translation.term(of: upper))
    guard case .constant(let from) = low.kind, case .constant(let to) = high.kind, from <= to else {
      return translation.evaluated(self)
    }
    let range = from...to
    return QueryTerm(
      read: { _ in range }, kind: .constant(range), text: "\(low.text)...\(high.text)")
  }
}

extension PredicateExpressions.RangeExpressionContains: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Bool> {
    let (ranges, one) = (translation.term(of: range), translation.term(of: element))
    let (range, element) = (ranges.read, one.read)
    var condition = Condition.other
    if case .constant(let range) = ranges.kind, let property = one.indexed,
      let keys = Self.keys(range)
    {
      condition = property.condition(keys) { range.contains($0) }
    }
    return QueryTerm(
      read: { try range($0).contains(element($0)) }, condition: condition,
      text: "\(one.text) IN \(ranges.text)")
  }

  /// The keys of the values that are in a range; nil for ranges of other kinds.
  ///
  /// NaN, whose key is behind all others, is in none that has an end, but a date that is NaN is in every
  /// closed one.
  private static func keys(_ range: RangeExpression.Output) -> KeyRanges? {
    switch range {
    case let range as Swift.Range<Element.Output>:
      let ends = (range.lowerBound, range.upperBound)
      guard ends == ends, let from = indexKey(ends.0), let to = indexKey(ends.1) else { return nil }
      return KeyRanges([KeyRange(from: from, to: to)])
    case let range as Swift.ClosedRange<Element.Output>:
      let ends = (range.lowerBound, range.upperBound)
      guard ends == ends, let from = indexKey(ends.0), let to = indexKey(ends.1) else { return nil }
      let nan = ends.0 is Date ? startOfNaN(ends.0).map { [KeyRange(from: $0)] } ?? [] : []
      return KeyRanges([KeyRange(from: from, to: KeyRange.end(ofPrefix: to))] + nan)
    default: return nil
    }
  }
}

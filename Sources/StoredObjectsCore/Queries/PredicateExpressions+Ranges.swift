import FoundationEssentials
import StoreEngine

// Ranges, and tests whether a value is in one.

extension PredicateExpressions.Range: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    translation.constant(lower, upper, "..<") { $0..<$1 } ?? translation.evaluated(self)
  }
}

extension PredicateExpressions.ClosedRange: QueryExpression {
  func term<Object: StoredObject>(
    _ translation: QueryTranslation<Object>
  ) -> QueryTerm<Object, Output> {
    translation.constant(lower, upper, "...") { $0...$1 } ?? translation.evaluated(self)
  }
}

extension QueryTranslation {
  /// Returns the term of a range whose bounds are constants in order; nil for others.
  fileprivate func constant<Lower: PredicateExpression, Upper: PredicateExpression, Output>(
    _ lower: Lower, _ upper: Upper, _ sign: String,
    _ range: (Lower.Output, Lower.Output) -> Output
  ) -> QueryTerm<Object, Output>? where Lower.Output: Comparable, Lower.Output == Upper.Output {
    let (low, high) = (term(of: lower), term(of: upper))
    guard case .constant(let from) = low.kind, case .constant(let to) = high.kind, from <= to else {
      return nil
    }
    let range = range(from, to)
    return QueryTerm(
      read: { _ in range }, kind: .constant(range), text: "\(low.text)\(sign)\(high.text)")
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
      let keys = Self.keys(range, translation.key)
    {
      condition = property.condition(keys) { range.contains($0) }
    }
    return QueryTerm(
      read: { try range($0).contains(element($0)) }, condition: condition,
      text: "\(one.text) IN \(ranges.text)")
  }

  /// Returns the keys of the values in a range, or nil for other kinds of ranges.
  ///
  /// The key of NaN sorts after all others, so NaN is in no range that has an end. A NaN date is in
  /// every closed range.
  private static func keys(
    _ range: RangeExpression.Output, _ key: (Element.Output) -> [UInt8]?
  ) -> KeyRanges? {
    switch range {
    case let range as Swift.Range<Element.Output>:
      guard let (from, to) = keys(range.lowerBound, range.upperBound, key) else { return nil }
      return KeyRanges([KeyRange(from: from, to: to)])
    case let range as Swift.ClosedRange<Element.Output>:
      guard let (from, to) = keys(range.lowerBound, range.upperBound, key) else { return nil }
      let inside = KeyRange(from: from, to: KeyRange.end(ofPrefix: to))
      return KeyRanges([inside] + nanOfDates(range.lowerBound))
    default: return nil
    }
  }

  /// Returns the keys of two bounds, or nil if an index can't hold them or one is NaN.
  private static func keys(
    _ lower: Element.Output, _ upper: Element.Output, _ key: (Element.Output) -> [UInt8]?
  ) -> (from: [UInt8], to: [UInt8])? {
    guard lower == lower, upper == upper, let from = key(lower), let to = key(upper)
    else { return nil }
    return (from, to)
  }
}

import StoreEngine

/// What a predicate asks for, as far as an index may help with it.
indirect enum Condition {
  /// The values of a property are in some ranges, of which nothing is left out.
  case values(AnyKeyPath, KeyRanges)
  /// Any element of a list of objects is in some ranges, of which nothing is left out.
  case element(AnyKeyPath, KeyRanges)
  case all([Condition])
  case any([Condition])
  /// What only the objects themselves can tell.
  case other

  /// The values that a property can have where the condition holds; nil when it may have any.
  func values(of property: AnyKeyPath) -> KeyRanges? {
    switch self {
    case .values(property, let ranges): return ranges
    case .values, .element, .other: return nil
    case .all(let parts):
      let ranges = parts.compactMap { $0.values(of: property) }
      guard let first = ranges.first else { return nil }
      return ranges.dropFirst().reduce(first) { $0.intersection($1) }
    case .any(let parts):
      var ranges = KeyRanges.none
      for part in parts {
        guard let more = part.values(of: property) else { return nil }
        ranges = ranges.union(more)
      }
      return ranges
    }
  }

  /// What holds where the condition does not.
  var negated: Condition {
    switch self {
    case .values(let property, let ranges): .values(property, ranges.complement)
    case .all(let parts): .any(parts.map(\.negated))
    case .any(let parts): .all(parts.map(\.negated))
    case .element, .other: .other
    }
  }

  /// Whether the condition says no more than what values some properties have, each for itself.
  func isTold(by properties: [AnyKeyPath]) -> Bool {
    switch self {
    case .values(let property, _): return properties.contains(property)
    case .element, .other: return false
    case .all(let parts): return parts.allSatisfy { $0.isTold(by: properties) }
    case .any(let parts):
      // Of one property; two would each be allowed what only the other is asked for.
      guard let property = parts.first?.onlyProperty else { return false }
      return properties.contains(property)
        && parts.dropFirst().allSatisfy { $0.onlyProperty == property }
    }
  }

  /// The one property that a condition is about, where there is one, and nothing else.
  private var onlyProperty: AnyKeyPath? {
    switch self {
    case .values(let property, _): return property
    case .element, .other: return nil
    case .all(let parts), .any(let parts):
      guard let first = parts.first?.onlyProperty else { return nil }
      // Each part is asked once, or a deep condition would be asked as often as 2 to its depth.
      return parts.dropFirst().allSatisfy { $0.onlyProperty == first } ? first : nil
    }
  }
}

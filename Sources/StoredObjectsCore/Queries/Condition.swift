import StoreEngine

/// The part of a predicate that an index may help with.
indirect enum Condition {
  /// The value of a property is in some ranges, and the ranges are exact.
  case values(AnyKeyPath, KeyRanges)
  /// At least one element of a list of objects is in some ranges, and the ranges are exact.
  case element(AnyKeyPath, KeyRanges)
  case all([Condition])
  case any([Condition])
  /// A condition that no index can decide.
  case other

  /// Returns the values of a property that the condition allows, or nil if it allows any.
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

  /// The opposite of the condition.
  var negated: Condition {
    switch self {
    case .values(let property, let ranges): .values(property, ranges.complement)
    case .all(let parts): .any(parts.map(\.negated))
    case .any(let parts): .all(parts.map(\.negated))
    case .element, .other: .other
    }
  }

  /// Returns whether checking some properties, each on its own, decides the condition.
  func isTold(by properties: [AnyKeyPath]) -> Bool {
    switch self {
    case .values(let property, _): return properties.contains(property)
    case .element, .other: return false
    case .all(let parts): return parts.allSatisfy { $0.isTold(by: properties) }
    case .any(let parts):
      // With two properties, the ranges would admit combinations that no alternative allows.
      guard let property = parts.first?.onlyProperty else { return false }
      return properties.contains(property)
        && parts.dropFirst().allSatisfy { $0.onlyProperty == property }
    }
  }

  /// The only property that the condition is about, or nil if there are others.
  private var onlyProperty: AnyKeyPath? {
    switch self {
    case .values(let property, _): return property
    case .element, .other: return nil
    case .all(let parts), .any(let parts):
      guard let first = parts.first?.onlyProperty else { return nil }
      // Evaluates each part once: twice would take 2^depth steps in a deep condition.
      return parts.dropFirst().allSatisfy { $0.onlyProperty == first } ? first : nil
    }
  }
}

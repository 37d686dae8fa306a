import StoreEngine

/// A set of values that a property may have, as sorted ranges of keys that do not overlap.
struct KeyRanges: Equatable {
  private(set) var ranges: [KeyRange]
  /// The keys of single values, as opposed to prefixes of values.
  private let pointKeys: Set<[UInt8]>

  static let all = KeyRanges([KeyRange()])
  static let none = KeyRanges([])

  /// Creates a set from ranges, which it sorts and joins where they overlap.
  init(_ ranges: [KeyRange], points: Set<[UInt8]> = []) {
    self.ranges = []
    pointKeys = points
    let found = ranges.filter { !$0.isEmpty }
    // Most sets have one range.
    guard found.count > 1 else {
      self.ranges = found
      return
    }
    for range in found.sorted(by: { $0.from.lexicographicallyPrecedes($1.from) }) {
      if let last = self.ranges.last,
        last.to.map({ !$0.lexicographicallyPrecedes(range.from) }) ?? true
      {
        self.ranges[self.ranges.count - 1].to = Self.later(last.to, range.to)
      } else {
        self.ranges.append(range)
      }
    }
  }

  /// Creates a set of one value.
  init(point: [UInt8]) { self.init([.prefix(point)], points: [point]) }

  private static func later(_ left: [UInt8]?, _ right: [UInt8]?) -> [UInt8]? {
    guard let left, let right else { return nil }
    return left.lexicographicallyPrecedes(right) ? right : left
  }

  private static func earlier(_ left: [UInt8]?, _ right: [UInt8]?) -> [UInt8]? {
    guard let left, let right else { return left ?? right }
    return left.lexicographicallyPrecedes(right) ? left : right
  }

  /// Returns the values that are in both sets.
  func intersection(_ other: KeyRanges) -> KeyRanges {
    var both: [KeyRange] = []
    for mine in ranges {
      for theirs in other.ranges {
        let from = mine.from.lexicographicallyPrecedes(theirs.from) ? theirs.from : mine.from
        both.append(KeyRange(from: from, to: Self.earlier(mine.to, theirs.to)))
      }
    }
    return KeyRanges(both, points: pointKeys.union(other.pointKeys))
  }

  /// Returns the values that are in at least one of the sets.
  func union(_ other: KeyRanges) -> KeyRanges {
    KeyRanges(ranges + other.ranges, points: pointKeys.union(other.pointKeys))
  }

  /// The values that are not in the set.
  var complement: KeyRanges {
    var rest: [KeyRange] = []
    var start: [UInt8]? = []
    for range in ranges {
      if let start { rest.append(KeyRange(from: start, to: range.from)) }
      start = range.to
    }
    if let start { rest.append(KeyRange(from: start)) }
    return KeyRanges(rest)
  }

  /// Returns the ranges with a prefix in front of all keys.
  func prefixed(_ prefix: [UInt8]) -> [KeyRange] {
    ranges.map { range in
      KeyRange(
        from: prefix + range.from,
        to: range.to.map { prefix + $0 } ?? KeyRange.end(ofPrefix: prefix))
    }
  }

  /// The values, if each range is a single value; otherwise nil.
  var points: [[UInt8]]? {
    var points: [[UInt8]] = []
    for range in ranges {
      guard range.to == KeyRange.end(ofPrefix: range.from), pointKeys.contains(range.from)
      else { return nil }
      points.append(range.from)
    }
    return points
  }

  /// Returns the set for the optional type: these values, with or without nil.
  func optional(withNil: Bool) -> KeyRanges {
    let values = prefixed([1]) + (withNil ? [.prefix([0])] : [])
    let points = Set(pointKeys.map { [1] + $0 })
    return KeyRanges(values, points: withNil ? points.union([[0]]) : points)
  }

  /// The values of an optional that are not nil, without the optional.
  var unwrapped: KeyRanges {
    let some = KeyRanges([.prefix([1])])
    let values = intersection(some).ranges.map { range in
      KeyRange(
        from: Array(range.from.dropFirst()),
        to: range.to.flatMap { $0.first == 1 ? Array($0.dropFirst()) : nil })
    }
    let points = pointKeys.filter { $0.first == 1 }.map { Array($0.dropFirst()) }
    return KeyRanges(values, points: Set(points))
  }
}

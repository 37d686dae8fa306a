import StoreEngine

/// The way a query finds its rows.
enum QueryAccess {
  /// All objects are read.
  case scan
  case index(IndexRanges)
  /// The rows that are in at least one of several parts.
  case union([IndexRanges])
  /// The rows that are in all of several parts; the part with the fewest keys is first.
  case intersection([IndexRanges])

  /// The parts of indexes that are read.
  var parts: [IndexRanges] {
    switch self {
    case .scan: []
    case .index(let part): [part]
    case .union(let parts), .intersection(let parts): parts
    }
  }

  var isIntersection: Bool { if case .intersection = self { true } else { false } }

  /// Returns the rows in ascending order, each once; nil if all objects are read.
  func rows(_ backend: any StoreBackend) throws -> [UInt32]? {
    switch self {
    case .scan: return nil
    case .index(let part): return try part.rows(backend)
    case .union(let parts):
      let rows = try parts.flatMap { try $0.rows(backend) }.sorted()
      return rows.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    case .intersection(let parts):
      var rows = try parts.first?.rows(backend) ?? []
      for part in parts.dropFirst() where !rows.isEmpty {
        rows = Self.common(rows, try part.rows(backend))
      }
      return rows
    }
  }

  /// Returns the numbers that are in both of two sorted arrays.
  private static func common(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
    var common: [UInt32] = []
    var position = 0
    for number in left {
      while position < right.count, right[position] < number { position += 1 }
      if position < right.count, right[position] == number { common.append(number) }
    }
    return common
  }
}

/// Parts of an index.
struct IndexRanges {
  let index: RegisteredIndex
  /// The ranges of keys, ascending and without overlap.
  var ranges: [KeyRange]
  /// The number of keys in the ranges.
  var count: Int
  /// The properties whose conditions the ranges express.
  let properties: [AnyKeyPath]
  /// The number of leading properties that have only one possible value.
  let fixedCount: Int
  /// The first bytes of all keys, given by those values.
  var fixedPrefix: [UInt8] = [RegisteredIndex.mark]

  /// Returns the rows in ascending order.
  fileprivate func rows(_ backend: any StoreBackend) throws -> [UInt32] {
    var rows: [UInt32] = []
    for range in ranges {
      _ = try backend.scanKeys(of: index.table, range, isReversed: false) { key, _ in
        rows.append(RegisteredIndex.row(key))
        return .next
      }
    }
    rows.sort()
    return rows
  }
}

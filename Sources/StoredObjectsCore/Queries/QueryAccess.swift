import StoreEngine

/// Where the rows of a query come from.
enum QueryAccess {
  /// All objects are read.
  case scan
  case index(IndexRanges)
  /// Rows that are in one of several.
  case union([IndexRanges])
  /// Rows that are in all of several, that with the fewest first.
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

  /// The rows in ascending order, each once; nil where all objects are read.
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

  /// The numbers that are in both, which are sorted.
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
  /// In ascending order, and apart from each other.
  var ranges: [KeyRange]
  /// The number of keys in them.
  let count: Int
  /// The properties of which they say what is asked.
  let properties: [AnyKeyPath]
  /// How many properties have one value only.
  let fixedCount: Int
  /// The first bytes of all keys, which these give.
  var fixedPrefix: [UInt8] = [RegisteredIndex.mark]

  /// The rows in ascending order.
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

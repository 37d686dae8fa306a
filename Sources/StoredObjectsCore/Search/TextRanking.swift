import StoreEngine

/// The rank of texts by Okapi BM25 with k1 = 1.2 and b = 0.75, for one pattern and attribute.
///
/// A pattern counts more if fewer texts have it, if it occurs more often in this text, and if this
/// text is shorter.
struct TextRanking {
  private let averageLength: Double
  private let rarity: Double

  /// Creates a ranking.
  ///
  /// - Parameters:
  ///   - objects: The number of objects.
  ///   - length: The total length of their texts.
  ///   - matches: The number of texts that contain the pattern.
  ///   - weight: The weight of the attribute.
  init(objects: UInt64, length: UInt64, matches: Int, weight: Double) {
    let objects = max(Double(objects), Double(matches))
    averageLength = max(1, Double(length) / max(1, objects))
    let odds = (objects - Double(matches) + 0.5) / (Double(matches) + 0.5)
    rarity = weight * Self.logarithm(1 + odds)
  }

  /// Returns the natural logarithm of a number from 1 on, with the same result on every machine.
  private static func logarithm(_ number: Double) -> Double {
    let part = (number.significand - 1) / (number.significand + 1)
    var (sum, power) = (0.0, part)
    for divisor in stride(from: 1.0, to: 40, by: 2) {
      sum += power / divisor
      power *= part * part
    }
    return Double(number.exponent) * 0.693_147_180_559_945_3 + 2 * sum
  }

  /// Returns the score of a text.
  func score(count: UInt32, length: Int) -> Double {
    let norm = 1.2 * (0.25 + 0.75 * Double(length) / averageLength)
    return rarity * Double(count) * 2.2 / (Double(count) + norm)
  }
}

/// The best of many rows, in bounded memory.
struct BestRows {
  struct Row {
    let row: UInt32
    let score: Double

    /// Returns whether the row comes before another: by higher score, then by lower row.
    func isBefore(_ other: Row) -> Bool {
      score != other.score ? score > other.score : row < other.row
    }
  }

  private let limit: Int
  private var rows: [Row] = []
  /// The number of rows added, including those that are not among the best.
  private(set) var count = 0
  /// The row that another must come before to count.
  private var threshold: Row?

  init(_ limit: Int) { self.limit = limit }

  mutating func add(_ row: Row) {
    count += 1
    if let threshold, !row.isBefore(threshold) { return }
    rows.append(row)
    if rows.count >= max(1024, limit.multipliedReportingOverflow(by: 2).partialValue),
      rows.count > limit, limit < Int.max / 2
    {
      cut()
    }
  }

  private mutating func cut() {
    rows.sort { $0.isBefore($1) }
    rows.removeLast(rows.count - limit)
    threshold = rows.last
    if limit == 0 { threshold = Row(row: 0, score: .infinity) }
  }

  /// Returns the best rows in their order.
  func sorted() -> [Row] { Array(rows.sorted { $0.isBefore($1) }.prefix(limit)) }
}

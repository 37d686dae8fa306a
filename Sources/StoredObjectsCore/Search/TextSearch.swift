import Files
import StoreEngine

/// A search of the objects of one class.
struct TextSearch {
  private let query: CompiledQuery
  private let text: RegisteredText
  /// The numbers of the attributes to search.
  private let attributes: [Int]

  init(_ query: CompiledQuery, _ text: RegisteredText, _ attributes: [Int]) {
    (self.query, self.text, self.attributes) = (query, text, attributes)
  }

  /// The matches of a pattern in an attribute.
  private struct Field {
    let pattern: Int
    let attribute: Int
    let matches: TextMatches
    let ranking: TextRanking
    private var next = 0

    init(pattern: Int, attribute: Int, matches: TextMatches, ranking: TextRanking) {
      (self.pattern, self.attribute) = (pattern, attribute)
      (self.matches, self.ranking) = (matches, ranking)
    }

    /// The next row, or the greatest number at the end.
    var row: UInt32 { next < matches.rows.count ? matches.rows[next] : .max }

    /// Skips lower rows.
    mutating func skip(to row: UInt32) {
      while next < matches.rows.count, matches.rows[next] < row { next += 1 }
    }

    /// Returns the score of the next row, and advances.
    mutating func takeScore(_ length: Int) -> Double {
      next += 1
      return ranking.score(count: matches.counts[next - 1], length: length)
    }
  }

  // MARK: By the index

  /// Searches the saved texts, except those of some rows, and the given unsaved texts.
  func run(
    _ backend: any StoreBackend, without rows: RowSet, unsaved: [(row: UInt32, texts: [String])],
    into best: inout BestRows
  ) throws(StoreError) {
    let counts = try text.counts(backend)
    let lookUp = TextLookUp(text, backend)
    var fields: [Field] = []
    for (number, pattern) in query.patterns.enumerated() {
      for attribute in attributes {
        let matches = try lookUp.matches(pattern, attribute)
        let ranking = TextRanking(
          objects: counts.objects, length: counts.lengths[attribute], matches: matches.rows.count,
          weight: text.attributes[attribute].weight)
        fields.append(
          Field(pattern: number, attribute: attribute, matches: matches, ranking: ranking))
      }
    }
    var stack: [Double?] = []
    for (row, texts) in unsaved {
      let found = TextOccurrences(query.patterns, texts, attributes)
      if let score = score(found, fields, &stack) { best.add(.init(row: row, score: score)) }
    }
    try addSaved(&fields, backend, without: rows, into: &best)
  }

  private func score(
    _ found: TextOccurrences, _ fields: [Field], _ stack: inout [Double?]
  ) -> Double? {
    var scores = [Double?](repeating: nil, count: query.patterns.count)
    for (index, field) in fields.enumerated() where found.counts[index] > 0 {
      let length = found.lengths[index % attributes.count]
      scores[field.pattern, default: 0] += field.ranking.score(
        count: found.counts[index], length: length)
    }
    return query.score(scores, &stack)
  }

  /// Walks the rows of all fields together.
  private func addSaved(
    _ fields: inout [Field], _ backend: any StoreBackend, without rows: RowSet,
    into best: inout BestRows
  ) throws(StoreError) {
    var lengths = TextLengths(text, backend)
    let nothing = [Double?](repeating: nil, count: query.patterns.count)
    var all = query.scoreOfNothing == nil ? [] : try lengths.allRows()[...]
    var (scores, stack) = (nothing, [Double?]())
    let leaders = leaders(fields)
    while true {
      var row = all.first ?? .max
      for index in leaders { row = min(row, fields[index].row) }
      if row == .max { return }
      if all.first == row { all.removeFirst() }
      for index in scores.indices { scores[index] = nil }
      for index in fields.indices {
        fields[index].skip(to: row)
        guard fields[index].row == row else { continue }
        let length = try lengths.length(row, fields[index].attribute)
        scores[fields[index].pattern, default: 0] += fields[index].takeScore(length)
      }
      if let score = query.score(scores, &stack), !rows.contains(row) {
        best.add(.init(row: row, score: score))
      }
    }
  }

  /// Returns fields that together contain every match.
  ///
  /// These are the fields of the rarest pattern that all matches have, or all fields if there is
  /// none.
  private func leaders(_ fields: [Field]) -> [Int] {
    let sizes = query.required.map { pattern in
      // The fields of a pattern are adjacent, one for each attribute.
      let own = Array(pattern * attributes.count..<(pattern + 1) * attributes.count)
      return (fields: own, size: own.reduce(0) { $0 + fields[$1].matches.rows.count })
    }
    return sizes.min { $0.size < $1.size }?.fields ?? Array(fields.indices)
  }

  // MARK: Without an index

  /// Searches texts one by one, for a read-only store without an index.
  func run(
    over texts: (_ body: (UInt32, [String]) -> Void) throws(StoreError) -> Void,
    into best: inout BestRows
  ) throws(StoreError) {
    var counts = TextCounts(text.attributes.count)
    var found: [(row: UInt32, occurrences: TextOccurrences)] = []
    let nothing = query.scoreOfNothing
    try texts { row, texts in
      let occurrences = TextOccurrences(query.patterns, texts, attributes)
      counts.objects += 1
      for (index, attribute) in attributes.enumerated() {
        counts.lengths[attribute] += UInt64(occurrences.lengths[index])
      }
      if nothing != nil || occurrences.counts.contains(where: { $0 > 0 }) {
        found.append((row, occurrences))
      }
    }
    var fields: [Field] = []
    for pattern in query.patterns.indices {
      for attribute in attributes {
        let index = fields.count
        let matches = found.reduce(0) { $0 + ($1.occurrences.counts[index] > 0 ? 1 : 0) }
        let ranking = TextRanking(
          objects: counts.objects, length: counts.lengths[attribute], matches: matches,
          weight: text.attributes[attribute].weight)
        fields.append(
          Field(pattern: pattern, attribute: attribute, matches: TextMatches(), ranking: ranking))
      }
    }
    var stack: [Double?] = []
    for (row, occurrences) in found {
      if let score = score(occurrences, fields, &stack) { best.add(.init(row: row, score: score)) }
    }
  }
}

extension [Double?] {
  fileprivate subscript(index: Int, default value: Double) -> Double {
    get { self[index] ?? value }
    set { self[index] = newValue }
  }
}

/// The number of times that patterns occur in the texts of one object.
private struct TextOccurrences {
  /// The counts in all attributes, pattern by pattern.
  private(set) var counts: [UInt32] = []
  /// The lengths, rounded as for the rank.
  private(set) var lengths: [Int] = []

  init(_ patterns: [TextPattern], _ texts: [String], _ attributes: [Int]) {
    let folded = attributes.map { FoldedText(texts[$0]) }
    lengths = folded.map {
      PostingFormat.length(code: PostingFormat.code(length: $0.scalars.count))
    }
    for pattern in patterns { for text in folded { counts.append(pattern.count(in: text)) } }
  }
}

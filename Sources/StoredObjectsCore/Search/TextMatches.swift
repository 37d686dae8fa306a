import Files
import StoreEngine

/// The rows whose text in one attribute contains a pattern, and how often, in ascending order.
struct TextMatches {
  var rows: [UInt32] = []
  var counts: [UInt32] = []

  mutating func add(_ row: UInt32) {
    if rows.last == row {
      counts[counts.count - 1] += 1
    } else {
      rows.append(row)
      counts.append(1)
    }
  }
}

/// A look-up of patterns in a full-text index.
struct TextLookUp {
  private let table: OrderedTableID
  private let backend: any StoreBackend

  init(_ text: RegisteredText, _ backend: any StoreBackend) {
    (table, self.backend) = (text.table, backend)
  }

  /// A row and a position, packed into a number that sorts in the same order.
  private typealias Occurrence = UInt64

  /// Returns the matches of a pattern.
  ///
  /// The look-up reads enough trigrams to cover every letter of the pattern, those in the fewest
  /// chunks first.
  func matches(_ pattern: TextPattern, _ attribute: Int) throws(StoreError) -> TextMatches {
    var occurrences: [Occurrence]
    if pattern.scalars.count < 3 {
      occurrences = try shortOccurrences(pattern.scalars, attribute)
    } else {
      let parts = try parts(of: pattern, attribute)
      guard parts.allSatisfy({ $0.chunkCount > 0 }), let first = parts.first else {
        return TextMatches()
      }
      occurrences = try allOccurrences(first)
      for part in parts.dropFirst() where !occurrences.isEmpty { try filter(&occurrences, part) }
    }
    if pattern.isAtStart { occurrences.removeAll { UInt32(truncatingIfNeeded: $0) != 0 } }
    var matches = TextMatches()
    for occurrence in occurrences { matches.add(UInt32(truncatingIfNeeded: occurrence >> 32)) }
    return matches
  }

  // MARK: Short patterns

  private func shortOccurrences(_ letters: [UInt32], _ attribute: Int) throws(StoreError)
    -> [Occurrence]
  {
    var occurrences: [Occurrence] = []
    try scan(.prefix(PostingFormat.key(attribute, letters))) { (row, value) throws(PostingDamage) in
      try PostingChunk.visit(row, value) {
        occurrences.append(Occurrence($0) << 32 | Occurrence($1))
      }
    }
    occurrences.sort()
    return occurrences
  }

  // MARK: Trigrams

  /// A trigram of a pattern.
  private struct Part {
    let prefix: [UInt8]
    /// The position of the trigram in the pattern.
    let offset: UInt32
    let chunkCount: Int

    var range: KeyRange { .prefix(prefix) }
  }

  private func parts(of pattern: TextPattern, _ attribute: Int) throws(StoreError) -> [Part] {
    let last = pattern.scalars.count - 3
    var offsets = Array(stride(from: 0, to: last, by: 3))
    offsets.append(last)
    return try offsets.map { (offset) throws(StoreError) in
      let prefix = PostingFormat.key(attribute, pattern.scalars[offset..<offset + 3])
      let count = try backend.keyCount(in: table, .prefix(prefix))
      return Part(prefix: prefix, offset: UInt32(offset), chunkCount: count)
    }.sorted { $0.chunkCount < $1.chunkCount }
  }

  private func allOccurrences(_ part: Part) throws(StoreError) -> [Occurrence] {
    var occurrences: [Occurrence] = []
    occurrences.reserveCapacity(part.chunkCount * 64)
    try scan(part.range) { (row, value) throws(PostingDamage) in
      try PostingChunk.visit(row, value) { row, position in
        guard position >= part.offset else { return }
        occurrences.append(Occurrence(row) << 32 | Occurrence(position - part.offset))
      }
    }
    return occurrences
  }

  /// Keeps the positions that match another trigram.
  private func filter(_ occurrences: inout [Occurrence], _ part: Part) throws(StoreError) {
    var filter = OccurrenceFilter(occurrences, part.offset)
    if occurrences.count * 16 < part.chunkCount {
      while let row = filter.nextRow {
        let range = KeyRange(from: part.prefix, through: part.prefix + PostingFormat.bytes(row))
        var isFound = false
        try scan(range, isReversed: true) { (first, value) throws(PostingDamage) in
          isFound = true
          try filter.compare(first, value)
          return .pause
        }
        if !isFound || filter.nextRow == row { filter.skip(row) }
      }
    } else {
      try scan(part.range) { (first, value) throws(PostingDamage) in
        try filter.compare(first, value)
      }
    }
    occurrences = filter.kept
  }

  private func scan(
    _ range: KeyRange, _ body: (UInt32, RawSpan) throws(PostingDamage) -> Void
  ) throws(StoreError) {
    try scan(range, isReversed: false) { (row, value) throws(PostingDamage) in
      try body(row, value)
      return .next
    }
  }

  private func scan(
    _ range: KeyRange, isReversed: Bool,
    _ body: (UInt32, RawSpan) throws(PostingDamage) -> ScanStep
  ) throws(StoreError) {
    _ = try backend.scanKeys(of: table, range, isReversed: isReversed) {
      (key, value) throws(StoreError) in
      do throws(PostingDamage) {
        guard key.byteCount >= 4 else { throw PostingDamage() }
        return try body(PostingFormat.row(key), value)
      } catch {
        throw .damagedPostings(error, at: backend.location)
      }
    }
  }
}

/// A filter that keeps the positions that also occur in a posting list.
private struct OccurrenceFilter {
  private let occurrences: [UInt64]
  private let offset: UInt32
  private var next = 0
  private(set) var kept: [UInt64] = []

  init(_ occurrences: [UInt64], _ offset: UInt32) {
    (self.occurrences, self.offset) = (occurrences, offset)
  }

  /// The row of the next position that has not been compared.
  var nextRow: UInt32? {
    next < occurrences.count ? UInt32(truncatingIfNeeded: occurrences[next] >> 32) : nil
  }

  /// Skips all positions of a row.
  mutating func skip(_ row: UInt32) { advance(to: (UInt64(row) + 1) << 32) }

  /// Compares with a chunk, or skips the chunk if it contains none of the rows.
  mutating func compare(_ first: UInt32, _ value: RawSpan) throws(PostingDamage) {
    let last = try PostingChunk.lastRow(first, value)
    advance(to: UInt64(first) << 32)
    guard let row = nextRow, row <= last else { return }
    try PostingChunk.visit(first, value) { row, position in
      guard position >= offset else { return }
      let occurrence = UInt64(row) << 32 | UInt64(position - offset)
      while next < occurrences.count, occurrences[next] < occurrence { next += 1 }
      if next < occurrences.count, occurrences[next] == occurrence {
        kept.append(occurrence)
        next += 1
      }
    }
    skip(last)
  }

  /// Advances to the first position that is not before another, by galloping search.
  private mutating func advance(to occurrence: UInt64) {
    guard next < occurrences.count, occurrences[next] < occurrence else { return }
    var step = 1
    while next + step < occurrences.count, occurrences[next + step] < occurrence {
      next += step
      step *= 2
    }
    var (low, high) = (next + 1, min(occurrences.count, next + step))
    while low < high {
      let middle = (low + high) / 2
      if occurrences[middle] < occurrence { low = middle + 1 } else { high = middle }
    }
    next = low
  }
}

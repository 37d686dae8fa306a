import Files
import StoreEngine

/// A comparison of a full-text index with the objects of its class.
///
/// It computes a checksum of the positions of all trigrams for each row, once from the index and
/// once from the texts. It keeps one sum in memory for each row.
struct TextCheck {
  private let text: RegisteredText
  private let backend: any StoreBackend
  private var sums: [UInt32: UInt64] = [:]
  private var expected: TextCounts

  init(_ text: RegisteredText, _ backend: any StoreBackend) {
    (self.text, self.backend) = (text, backend)
    expected = TextCounts(text.attributes.count)
  }

  /// Adds the texts of a row.
  mutating func add(_ row: UInt32, _ texts: [String]) {
    expected.objects += 1
    for (attribute, text) in texts.enumerated() {
      let folded = FoldedText(text)
      expected.lengths[attribute] += UInt64(folded.scalars.count)
      let code = PostingFormat.code(length: folded.scalars.count)
      sums[row, default: 0] &+= Self.mix(attribute, UInt64.max, UInt64(code))
      for index in folded.scalars.indices.dropLast() {
        let trigram =
          UInt64(folded[index]) << 42 | UInt64(folded[index + 1]) << 21 | UInt64(folded[index + 2])
        sums[row, default: 0] &+= Self.mix(attribute, trigram, UInt64(index))
      }
    }
  }

  private static func mix(_ attribute: Int, _ letters: UInt64, _ index: UInt64) -> UInt64 {
    var bits = letters &* 0x9E37_79B9_7F4A_7C15 ^ (index << 8 | UInt64(attribute))
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// Returns the rows that differ between the index and the class, in ascending order.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, and the errors of reading.
  mutating func wrongRows() throws(StoreError) -> [UInt32] {
    do {
      _ = try backend.scanKeys(of: text.table, .init(from: [1]), isReversed: false) {
        (key, value) throws(StoreError) in
        try readingPostings { () throws(PostingDamage) in try subtract(key, value) }
        return .next
      }
    } catch  where error.isOfPostings {
      throw StoreError(
        .damaged, "A key or a chunk of the full-text index is damaged.",
        at: .init(path: backend.location))
    }
    return sums.filter { $0.value != 0 }.keys.sorted()
  }

  /// Returns whether the counts match the class.
  func hasRightCounts() throws(StoreError) -> Bool {
    let counts = try text.counts(backend)
    return counts.objects == expected.objects && counts.lengths == expected.lengths
  }

  private mutating func subtract(_ key: RawSpan, _ value: RawSpan) throws(PostingDamage) {
    let attribute = key.byteCount > 1 ? Int(key.loadByte(at: 1)) : .max
    guard attribute < text.attributes.count else { throw PostingDamage() }
    if key.loadByte(at: 0) == PostingFormat.lengths, key.byteCount == 6 {
      guard value.byteCount == 1 << Int(PostingFormat.blockShift) else { throw PostingDamage() }
      let first = PostingFormat.row(key) << PostingFormat.blockShift
      for index in 0..<value.byteCount where value.loadByte(at: index) > 0 {
        sums[first + UInt32(index), default: 0] &-= Self.mix(
          attribute, UInt64.max, UInt64(value.loadByte(at: index)))
      }
      return
    }
    guard key.loadByte(at: 0) == PostingFormat.postings, key.byteCount == 15 else {
      throw PostingDamage()
    }
    var trigram: UInt64 = 0
    for letter in 0..<3 {
      let bytes = (0..<3).map { UInt64(key.loadByte(at: 2 + letter * 3 + $0)) }
      trigram = trigram << 21 | bytes[0] << 16 | bytes[1] << 8 | bytes[2]
    }
    try PostingChunk.visit(PostingFormat.row(key), value) { row, position in
      sums[row, default: 0] &-= Self.mix(attribute, trigram, UInt64(position))
    }
  }
}

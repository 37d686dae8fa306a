/// The checksum of a batch in the log: a CRC-32C that takes each eight bytes in reverse order.
///
/// Records end with a CRC-32C of their own. The CRC-32C of bytes that end with their own CRC-32C is
/// the same for all bytes of that length. So a plain CRC-32C of a batch would not distinguish a
/// record from an older one of the same length. A power cut in the middle of a write leaves exactly
/// that: the beginning of the new batch, and the end of the old one in its place. In another byte
/// order the two checksums are independent.
struct BatchChecksum {
  /// The order in which the bytes of a batch are added to its checksum.
  enum Order: CaseIterable, Sendable {
    /// Byte by byte, in logs of earlier versions.
    case plain
    /// Eight bytes at a time, the last of them first.
    case reversedWords
  }

  private let order: Order
  private var checksum = CRC32C()
  /// The bytes that don't fill a word yet.
  private var word: InlineArray<8, UInt8> = .init(repeating: 0)
  private var wordCount = 0

  init(_ order: Order) { self.order = order }

  /// Adds the next piece of a batch.
  ///
  /// Complexity: linear in the number of bytes.
  mutating func update(_ piece: Span<UInt8>) {
    if order == .plain { return checksum.update(piece) }
    let first = wordCount == 0 ? 0 : min(piece.count, 8 - wordCount)
    for index in 0..<first { append(piece[index]) }
    let last = first + (piece.count - first) / 8 * 8
    checksum.updateReversingWords(piece.extracting(first..<last))
    for index in last..<piece.count { append(piece[index]) }
  }

  private mutating func append(_ byte: UInt8) {
    word[wordCount] = byte
    wordCount += 1
    if wordCount == 8 { takeWord() }
  }

  private mutating func takeWord() {
    checksum.updateReversingWords(word.span)
    (word, wordCount) = (.init(repeating: 0), 0)
  }

  /// Returns the checksum of all pieces, with the last word padded with zeros.
  consuming func value() -> UInt32 {
    if wordCount > 0 { takeWord() }
    return checksum.value
  }
}

import Files
import StoreEngine

/// The lengths of texts, as the index has them.
///
/// Whoever asks for one block after the other gets the next ones read at once.
struct TextLengths {
  private let text: RegisteredText
  private let backend: any StoreBackend
  /// The blocks that were read last, for each attribute.
  private var stretches: [Stretch]

  /// Blocks that are read together.
  private struct Stretch {
    /// The numbers of the blocks; those in between that are not there have no text.
    var numbers: Range<UInt32> = 0..<0
    /// Where in the bytes each begins; -1 for one that is not there.
    var starts: [Int] = []
    var bytes: [UInt8] = []
  }

  /// So many blocks are read together at most.
  private static let greatestCount: UInt32 = 32
  private static let blockSize = 1 << Int(PostingFormat.blockShift)

  init(_ text: RegisteredText, _ backend: any StoreBackend) {
    (self.text, self.backend) = (text, backend)
    stretches = text.attributes.map { _ in Stretch() }
  }

  /// The length of the text of a row.
  mutating func length(_ row: UInt32, _ attribute: Int) throws(StoreError) -> Int {
    let number = row >> PostingFormat.blockShift
    if !stretches[attribute].numbers.contains(number) { try read(number, attribute) }
    let start = stretches[attribute].starts[Int(number - stretches[attribute].numbers.lowerBound)]
    let offset = Int(row) & (Self.blockSize - 1)
    return start < 0 ? 0 : PostingFormat.length(code: stretches[attribute].bytes[start + offset])
  }

  /// Reads a block, and, where it comes soon after those that were read last, the next ones.
  private mutating func read(_ number: UInt32, _ attribute: Int) throws(StoreError) {
    let before = stretches[attribute].numbers
    let isNear = !before.isEmpty && number >= before.upperBound && number - before.upperBound < 2
    let count = isNear ? min(Self.greatestCount, UInt32(before.count) * 2) : 1
    var next = Stretch()
    next.numbers = number..<number + count
    next.starts = [Int](repeating: -1, count: Int(count))
    let range = KeyRange(
      from: PostingFormat.lengthsKey(attribute, block: number),
      to: PostingFormat.lengthsKey(attribute, block: number + count))
    _ = try backend.scanKeys(of: text.table, range, isReversed: false) { key, value in
      guard key.byteCount == 6, value.byteCount == Self.blockSize else { return .next }
      next.starts[Int(PostingFormat.row(key) - number)] = next.bytes.count
      next.bytes.append(copying: value)
      return .next
    }
    stretches[attribute] = next
  }

  /// The rows of all objects.
  func allRows() throws(StoreError) -> [UInt32] {
    var rows: [UInt32] = []
    let range = KeyRange.prefix([PostingFormat.lengths, 0])
    _ = try backend.scanKeys(of: text.table, range, isReversed: false) { key, value in
      guard key.byteCount == 6, value.byteCount == 1 << Int(PostingFormat.blockShift) else {
        return .next
      }
      let first = PostingFormat.row(key) << PostingFormat.blockShift
      for index in 0..<value.byteCount where value.loadByte(at: index) > 0 {
        rows.append(first + UInt32(index))
      }
      return .next
    }
    return rows
  }
}

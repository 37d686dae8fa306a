import Files
import StoreEngine

/// The lengths of texts, read from the index.
///
/// If blocks are requested in sequence, the following ones are read ahead.
struct TextLengths {
  private let text: RegisteredText
  private let backend: any StoreBackend
  /// The blocks that were read last, for each attribute.
  private var stretches: [Stretch]

  /// Blocks that were read together.
  private struct Stretch {
    /// The numbers of the blocks; a missing block in the range means no texts.
    var numbers: Range<UInt32> = 0..<0
    /// The offset of each block in the bytes; -1 for a missing block.
    var starts: [Int] = []
    var bytes: [UInt8] = []
  }

  /// The maximum number of blocks to read together.
  ///
  /// Finding the first block takes as long as copying about ten. 32 KiB stay in the caches.
  private static let greatestCount: UInt32 = 256
  private static let blockSize = 1 << Int(PostingFormat.blockShift)

  init(_ text: RegisteredText, _ backend: any StoreBackend) {
    (self.text, self.backend) = (text, backend)
    stretches = text.attributes.map { _ in Stretch() }
  }

  /// Returns the length of the text of a row.
  mutating func length(_ row: UInt32, _ attribute: Int) throws(StoreError) -> Int {
    let number = row >> PostingFormat.blockShift
    if !stretches[attribute].numbers.contains(number) { try read(number, attribute) }
    let start = stretches[attribute].starts[Int(number - stretches[attribute].numbers.lowerBound)]
    let offset = Int(row) & (Self.blockSize - 1)
    return start < 0 ? 0 : PostingFormat.length(code: stretches[attribute].bytes[start + offset])
  }

  /// Reads a block, and also the next ones if it closely follows the blocks that were read last.
  private mutating func read(_ number: UInt32, _ attribute: Int) throws(StoreError) {
    let before = stretches[attribute].numbers
    let isNear = !before.isEmpty && number >= before.upperBound && number - before.upperBound < 2
    let count = isNear ? min(Self.greatestCount, UInt32(before.count) * 2) : 1
    var next = Stretch()
    next.numbers = number..<number + count
    next.starts = [Int](repeating: -1, count: Int(count))
    next.bytes.reserveCapacity(Int(count) * Self.blockSize)
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

  /// Returns the rows of all objects.
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

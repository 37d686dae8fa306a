import Files
import StoreEngine

/// The lengths of texts, as the index has them.
struct TextLengths {
  private let text: RegisteredText
  private let backend: any StoreBackend
  /// For each attribute the block that was asked for last.
  private var numbers: [UInt32?]
  private var blocks: [[UInt8]]

  init(_ text: RegisteredText, _ backend: any StoreBackend) {
    (self.text, self.backend) = (text, backend)
    numbers = text.attributes.map { _ in nil }
    blocks = text.attributes.map { _ in [] }
  }

  mutating func length(_ row: UInt32, _ attribute: Int) throws -> Int {
    let number = row >> PostingFormat.blockShift
    if numbers[attribute] != number {
      let key = PostingFormat.lengthsKey(attribute, block: number)
      let bytes = try backend.withValue(of: key, in: text.table) { [UInt8](copying: $0) }
      (numbers[attribute], blocks[attribute]) = (number, bytes ?? [])
    }
    let index = Int(row) & (1 << Int(PostingFormat.blockShift) - 1)
    guard index < blocks[attribute].count else { return 0 }
    return PostingFormat.length(code: blocks[attribute][index])
  }

  /// The rows of all objects.
  func allRows() throws -> [UInt32] {
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

import Files
import StoreEngine

/// The lengths of all texts of a class in memory, one byte for each row and attribute.
struct TextLengthBlocks {
  private static let size = 1 << Int(PostingFormat.blockShift)
  /// The existing blocks of each attribute, by number.
  private var blocks: [[UInt32: [UInt8]]]

  init(_ attributes: Int) { blocks = Array(repeating: [:], count: attributes) }

  mutating func set(_ code: UInt8, _ row: UInt32, _ attribute: Int) {
    let number = row >> PostingFormat.blockShift
    blocks[attribute][number, default: [UInt8](repeating: 0, count: Self.size)][
      Int(row) & (Self.size - 1)] = code
  }

  /// Reads the blocks of an index.
  mutating func read(_ text: RegisteredText, _ backend: any StoreBackend) throws(StoreError) {
    let range = KeyRange.prefix([PostingFormat.lengths])
    _ = try backend.scanKeys(of: text.table, range, isReversed: false) { key, value in
      guard key.byteCount == 6, value.byteCount == Self.size,
        Int(key.loadByte(at: 1)) < blocks.count
      else { return .next }
      blocks[Int(key.loadByte(at: 1))][PostingFormat.row(key)] = [UInt8](copying: value)
      return .next
    }
  }

  /// The rows that have a length.
  var rows: [UInt32] {
    var rows: [UInt32] = []
    for (number, codes) in blocks.first ?? [:] {
      let first = number << PostingFormat.blockShift
      for (location, code) in codes.enumerated() where code > 0 {
        rows.append(first + UInt32(location))
      }
    }
    return rows.sorted()
  }

  /// Writes all blocks in key order.
  func write(to writer: inout OrderedFileWriter) throws(StoreError) {
    for attribute in blocks.indices {
      for (number, codes) in blocks[attribute].sorted(by: { $0.key < $1.key }) {
        try writer.append(PostingFormat.lengthsKey(attribute, block: number), codes)
      }
    }
  }
}

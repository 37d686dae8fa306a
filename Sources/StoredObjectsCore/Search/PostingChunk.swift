import Files
import StoreEngine

/// A chunk of a posting list: the positions of one trigram in the texts of some rows.
///
/// The key of a chunk has its first row. The value begins with the distance of the last row from
/// the first, followed by bytes as in ``PostingCollector/List/bytes``.
enum PostingChunk {
  /// The positions in one row, encoded.
  struct Posting {
    let row: UInt32
    let positions: [UInt8]
  }

  /// Returns the last row of a chunk.
  static func lastRow(_ first: UInt32, _ value: RawSpan) throws(PostingDamage) -> UInt32 {
    var offset = 0
    return try row(first, try value.readVarint(&offset))
  }

  private static func row(
    _ before: UInt32, _ difference: UInt64
  ) throws(PostingDamage) -> UInt32 {
    guard let row = UInt32(exactly: UInt64(before) + difference) else { throw PostingDamage() }
    return row
  }

  /// Calls a closure with all positions of a chunk, in ascending order.
  @inline(__always)
  static func visit(
    _ first: UInt32, _ value: RawSpan, _ body: (UInt32, UInt32) -> Void
  ) throws(PostingDamage) {
    var offset = 0
    let last = try row(first, try value.readVarint(&offset))
    var row = first
    while true {
      var position: UInt64 = 0
      while true {
        let number = try value.readVarint(&offset)
        // A number has at most 49 bits, so the sum can't overflow.
        position += number >> 1
        guard position <= UInt64(UInt32.max) else { throw PostingDamage() }
        body(row, UInt32(truncatingIfNeeded: position))
        if number & 1 == 0 { break }
      }
      if offset == value.byteCount { break }
      let difference = try value.readVarint(&offset)
      guard difference > 0 else { throw PostingDamage() }
      row = try Self.row(row, difference)
    }
    guard row == last else { throw PostingDamage() }
  }

  /// Returns the postings of a chunk.
  static func postings(_ first: UInt32, _ value: RawSpan) throws(PostingDamage) -> [Posting] {
    var offset = 0
    _ = try value.readVarint(&offset)
    return try postings(first, value, from: offset)
  }

  /// Returns the postings in bytes that begin with the positions of the first row.
  static func postings(
    _ first: UInt32, _ value: RawSpan, from start: Int
  ) throws(PostingDamage) -> [Posting] {
    var postings: [Posting] = []
    var (offset, row) = (start, first)
    while true {
      let start = offset
      while try value.readVarint(&offset) & 1 == 1 {}
      let positions = [UInt8](copying: value.extracting(start..<offset))
      postings.append(Posting(row: row, positions: positions))
      if offset == value.byteCount { return postings }
      row = try Self.row(row, try value.readVarint(&offset))
    }
  }

  /// Splits postings into chunks.
  static func chunks(_ postings: [Posting]) -> [(first: UInt32, value: [UInt8])] {
    var chunks: [(UInt32, [UInt8])] = []
    var start = 0
    while start < postings.count {
      var bytes: [UInt8] = postings[start].positions
      var end = start + 1
      while end < postings.count {
        let posting = postings[end]
        guard bytes.count + posting.positions.count + 5 <= PostingFormat.chunkSize else { break }
        bytes.append(varint: UInt64(posting.row - postings[end - 1].row))
        bytes += posting.positions
        end += 1
      }
      chunks.append((postings[start].row, value(postings[start].row, postings[end - 1].row, bytes)))
      start = end
    }
    return chunks
  }

  /// Splits the bytes of a ``PostingCollector/List`` into chunks without encoding them again.
  ///
  /// - Parameters:
  ///   - first: The first row.
  ///   - bytes: The bytes, which begin with the positions in the first row.
  ///   - body: Receives the first and the last row of each chunk, and the range of its bytes.
  /// - Throws: ``PostingDamage`` if the bytes are invalid.
  static func cut(
    _ first: UInt32, _ bytes: RawSpan, _ body: (UInt32, UInt32, Range<Int>) -> Void
  ) throws(PostingDamage) {
    var (row, chunkRow, lastRow) = (first, first, first)
    var (offset, start, end) = (0, 0, 0)
    while true {
      // The offset is at the positions of a row.
      let rowStart = offset
      while try bytes.readVarint(&offset) & 1 == 1 {}
      if offset - start > PostingFormat.chunkSize, end > start {
        body(chunkRow, lastRow, start..<end)
        (start, chunkRow) = (rowStart, row)
      }
      (end, lastRow) = (offset, row)
      if offset == bytes.byteCount { break }
      row = try Self.row(row, try bytes.readVarint(&offset))
    }
    body(chunkRow, lastRow, start..<end)
  }

  /// Returns the bytes of a chunk.
  static func value(
    _ first: UInt32, _ last: UInt32, _ bytes: some Collection<UInt8>
  ) -> [UInt8] {
    var value: [UInt8] = []
    value.reserveCapacity(bytes.count + 5)
    value.append(varint: UInt64(last - first))
    value += bytes
    return value
  }
}

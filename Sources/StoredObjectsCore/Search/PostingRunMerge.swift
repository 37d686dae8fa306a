import Files
import StoreEngine

/// A merge of several sorted runs into the chunks of a full-text index.
struct PostingRunMerge {
  private var cursors: [PostingRunCursor]

  init(_ cursors: [PostingRunCursor]) { self.cursors = cursors }

  /// Writes all chunks in key order.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged` if a run is invalid, and the errors of
  ///   writing.
  mutating func write(to writer: inout OrderedFileWriter) throws(StoreError) {
    while let key = cursors.compactMap(\.key).min() {
      var chunks = ChunkWriter(key)
      while let part = try takePart(key) { try chunks.append(part, &writer) }
      try chunks.finish(&writer)
    }
  }

  /// Returns the next entry of a trigram, joined with the entries whose rows overlap it.
  ///
  /// Only these entries are in memory together.
  private mutating func takePart(_ key: PostingRunCursor.Key) throws(StoreError) -> PostingRunCursor
    .Part?
  {
    guard let first = cursorOfLowestRow(key) else { return nil }
    var parts = [try cursors[first].take()]
    var lastRow = parts[0].lastRow
    while let next = cursorOfLowestRow(key), cursors[next].firstRow <= lastRow {
      let part = try cursors[next].take()
      lastRow = max(lastRow, part.lastRow)
      parts.append(part)
    }
    if parts.count == 1 { return parts[0] }
    return try readingPostings { () throws(PostingDamage) in try Self.joined(parts) }
  }

  private func cursorOfLowestRow(_ key: PostingRunCursor.Key) -> Int? {
    cursors.indices.lazy.filter { cursors[$0].key == key }
      .min { cursors[$0].firstRow < cursors[$1].firstRow }
  }

  /// Joins several entries into one.
  private static func joined(
    _ parts: [PostingRunCursor.Part]
  ) throws(PostingDamage) -> PostingRunCursor.Part {
    var postings: [PostingChunk.Posting] = []
    for part in parts {
      postings += try part.bytes.lend { (bytes) throws(PostingDamage) in
        try PostingChunk.postings(part.firstRow, bytes, from: 0)
      }
    }
    postings.sort { $0.row < $1.row }
    var bytes: [UInt8] = []
    for (index, posting) in postings.enumerated() {
      if index > 0 { bytes.append(varint: UInt64(posting.row - postings[index - 1].row)) }
      bytes += posting.positions
    }
    guard let first = postings.first, let last = postings.last else { throw PostingDamage() }
    return PostingRunCursor.Part(firstRow: first.row, lastRow: last.row, bytes: bytes)
  }
}

/// A writer that splits the positions of a trigram into chunks.
private struct ChunkWriter {
  private let prefix: [UInt8]
  private var key: [UInt8]
  private var value: [UInt8] = []
  /// The positions that are not written yet, as ``PostingCollector/List/bytes``.
  private var rest: [UInt8] = []
  private var firstRow: UInt32 = 0
  private var lastRow: UInt32 = 0

  init(_ key: PostingRunCursor.Key) {
    prefix = PostingFormat.key(Int(key.attribute), PostingFormat.letters(key.trigram))
    self.key = prefix
  }

  /// Adds positions in rows after all before, and writes all chunks but the last.
  mutating func append(
    _ part: PostingRunCursor.Part, _ writer: inout OrderedFileWriter
  ) throws(StoreError) {
    if rest.isEmpty {
      (firstRow, rest) = (part.firstRow, part.bytes)
    } else {
      rest.append(varint: UInt64(part.firstRow - lastRow))
      rest += part.bytes
    }
    lastRow = part.lastRow
    if rest.count > 2 * PostingFormat.chunkSize { try cut(keepsLast: true, &writer) }
  }

  mutating func finish(_ writer: inout OrderedFileWriter) throws(StoreError) {
    if !rest.isEmpty { try cut(keepsLast: false, &writer) }
  }

  private mutating func cut(keepsLast: Bool, _ writer: inout OrderedFileWriter) throws(StoreError) {
    var chunks: [(first: UInt32, last: UInt32, part: Range<Int>)] = []
    try readingPostings { () throws(PostingDamage) in
      try rest.lend { (bytes) throws(PostingDamage) in
        try PostingChunk.cut(firstRow, bytes) { chunks.append(($0, $1, $2)) }
      }
    }
    for chunk in chunks.dropLast(keepsLast ? 1 : 0) {
      value.removeAll(keepingCapacity: true)
      value.append(varint: UInt64(chunk.last - chunk.first))
      rest.lend(chunk.part) { value.append(copying: $0) }
      try write(chunk.first, &writer)
    }
    guard keepsLast, let last = chunks.last else { return }
    firstRow = last.first
    rest = Array(rest[last.part])
  }

  private mutating func write(_ row: UInt32, _ writer: inout OrderedFileWriter) throws(StoreError) {
    key.removeLast(key.count - prefix.count)
    key.append(bigEndian: row)
    try writer.append(key, value)
  }
}

extension OrderedFileWriter {
  /// Appends a key, which is greater than all before it.
  mutating func append(_ key: [UInt8], _ value: [UInt8]) throws(StoreError) {
    try key.lend { (key) throws(StoreError) in
      try value.lend { (value) throws(StoreError) in try append(key, value) }
    }
  }
}

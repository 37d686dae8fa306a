import Files

/// Makes the chunks of a full-text index of several runs.
struct PostingRunMerge {
  private var cursors: [PostingRunCursor]

  init(_ cursors: [PostingRunCursor]) { self.cursors = cursors }

  /// Writes all chunks in the order of their keys.
  ///
  /// - Throws: ``PostingDamage`` when a run makes no sense; what writing throws.
  mutating func write(to writer: inout OrderedFileWriter) throws {
    while let key = cursors.compactMap(\.key).min() {
      var parts: [PostingRunCursor.Part] = []
      for index in cursors.indices {
        while cursors[index].key == key { parts.append(try cursors[index].take()) }
      }
      parts.sort { $0.firstRow < $1.firstRow }
      var chunks = ChunkWriter(key)
      if zip(parts, parts.dropFirst()).allSatisfy({ $0.lastRow < $1.firstRow }) {
        for part in parts { try chunks.append(part, &writer) }
        try chunks.finish(&writer)
      } else {
        try chunks.writeMixed(parts, &writer)
      }
    }
  }
}

/// Cuts the places of some letters into chunks.
private struct ChunkWriter {
  private let prefix: [UInt8]
  private var key: [UInt8]
  private var value: [UInt8] = []
  /// What has not been written yet, as ``PostingCollector/List/bytes``.
  private var rest: [UInt8] = []
  private var firstRow: UInt32 = 0
  private var lastRow: UInt32 = 0

  init(_ key: PostingRunCursor.Key) {
    prefix = PostingFormat.key(Int(key.attribute), PostingFormat.letters(key.trigram))
    self.key = prefix
  }

  /// Adds places in rows behind all before, and writes all chunks but the last.
  mutating func append(
    _ part: PostingRunCursor.Part, _ writer: inout OrderedFileWriter
  ) throws {
    if rest.isEmpty {
      (firstRow, rest) = (part.firstRow, part.bytes)
    } else {
      rest.append(varint: UInt64(part.firstRow - lastRow))
      rest += part.bytes
    }
    lastRow = part.lastRow
    if rest.count > 2 * PostingFormat.chunkSize { try cut(keepsLast: true, &writer) }
  }

  mutating func finish(_ writer: inout OrderedFileWriter) throws {
    if !rest.isEmpty { try cut(keepsLast: false, &writer) }
  }

  private mutating func cut(keepsLast: Bool, _ writer: inout OrderedFileWriter) throws {
    var chunks: [(first: UInt32, last: UInt32, part: Range<Int>)] = []
    try rest.lend { try PostingChunk.cut(firstRow, $0) { chunks.append(($0, $1, $2)) } }
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

  /// Writes parts whose rows lie between each other.
  mutating func writeMixed(
    _ parts: [PostingRunCursor.Part], _ writer: inout OrderedFileWriter
  ) throws {
    var postings: [PostingChunk.Posting] = []
    for part in parts {
      postings += try part.bytes.lend { try PostingChunk.postings(part.firstRow, $0, from: 0) }
    }
    postings.sort { $0.row < $1.row }
    for chunk in PostingChunk.chunks(postings) {
      value = chunk.value
      try write(chunk.first, &writer)
    }
  }

  private mutating func write(_ row: UInt32, _ writer: inout OrderedFileWriter) throws {
    key.removeLast(key.count - prefix.count)
    key.append(bigEndian: row)
    try writer.append(key, value)
  }
}

extension OrderedFileWriter {
  /// Appends a key, which is behind all before it.
  mutating func append(_ key: [UInt8], _ value: [UInt8]) throws {
    try key.lend { key in try value.lend { try append(key, $0) } }
  }
}

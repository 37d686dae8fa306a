import Files
import StoreEngine

/// A merge of the changed positions of one trigram into its chunks.
struct PostingMerge {
  private let table: OrderedTableID
  private let attribute: Int
  private let backend: any StoreBackend
  private let added: PostingCollector.List?
  private let removed: PostingCollector.List?
  private let trigram: UInt64
  private let prefix: [UInt8]

  init(
    _ text: RegisteredText, _ attribute: Int, _ backend: any StoreBackend,
    _ added: PostingCollector.List?, _ removed: PostingCollector.List?
  ) {
    (table, self.attribute, self.backend) = (text.table, attribute, backend)
    (self.added, self.removed) = (added, removed)
    trigram = added?.trigram ?? removed?.trigram ?? 0
    prefix = PostingFormat.key(attribute, PostingFormat.letters(trigram))
  }

  /// A saved chunk.
  private struct Saved {
    let first: UInt32
    let value: [UInt8]
  }

  /// Writes the added positions to an empty table.
  func write(_ writer: inout TableWriter, _ changes: inout ChangeSet) throws(StoreError) {
    guard let added else { return }
    try put(added.firstRow, added.bytes, &writer, &changes)
  }

  private func put(
    _ first: UInt32, _ bytes: [UInt8], _ writer: inout TableWriter, _ changes: inout ChangeSet
  ) throws(StoreError) {
    var key = prefix
    try bytes.lend { (span) throws(StoreError) in
      try readingPostings { () throws(PostingDamage) in
        try PostingChunk.cut(first, span) { first, last, part in
          key.removeLast(key.count - prefix.count)
          key += PostingFormat.bytes(first)
          writer.put(key, PostingChunk.value(first, last, bytes[part]), &changes)
        }
      }
    }
  }

  private static func postings(
    _ list: PostingCollector.List?
  ) throws(StoreError) -> [PostingChunk.Posting] {
    guard let list else { return [] }
    return try readingPostings { () throws(PostingDamage) in
      try list.bytes.lend { (bytes) throws(PostingDamage) in
        try PostingChunk.postings(list.firstRow, bytes, from: 0)
      }
    }
  }

  private func put(
    _ postings: [PostingChunk.Posting], _ writer: inout TableWriter, _ changes: inout ChangeSet
  ) {
    for chunk in PostingChunk.chunks(postings) {
      writer.put(prefix + PostingFormat.bytes(chunk.first), chunk.value, &changes)
    }
  }

  /// Rewrites the chunks that contain changed rows.
  func run(_ writer: inout TableWriter, _ changes: inout ChangeSet) throws(StoreError) {
    if removed == nil, let added, try append(added, &writer, &changes) { return }
    var added = try Self.postings(added)[...]
    var removed = try Self.postings(removed).map(\.row)[...]
    while let row = [added.first?.row, removed.first].compactMap(\.self).min() {
      let chunk = try chunk(through: row)
      let end = try nextFirst(after: chunk.map { max($0.first, row) } ?? row)
      let count = added.firstIndex { end != nil && $0.row >= end ?? 0 } ?? added.endIndex
      let gone = removed.firstIndex { end != nil && $0 >= end ?? 0 } ?? removed.endIndex
      let new = Array(added[added.startIndex..<count])
      try rewrite(chunk, Set(removed[removed.startIndex..<gone]), new, &writer, &changes)
      added = added[count...]
      removed = removed[gone...]
    }
  }

  /// Appends rows after all existing ones, byte for byte; returns false if they are not after them.
  private func append(
    _ added: PostingCollector.List, _ writer: inout TableWriter, _ changes: inout ChangeSet
  ) throws(StoreError) -> Bool {
    guard let chunk = try chunk(through: .max) else {
      try put(added.firstRow, added.bytes, &writer, &changes)
      return true
    }
    var offset = 0
    let distance = try readingPostings { () throws(PostingDamage) in
      try chunk.value.lend { (value) throws(PostingDamage) in try value.readVarint(&offset) }
    }
    let last = UInt64(chunk.first) + distance
    guard last < UInt64(added.firstRow) else { return false }
    if chunk.value.count > PostingFormat.chunkSize - 16 {
      // The chunk is full: rows after it get chunks of their own.
      try put(added.firstRow, added.bytes, &writer, &changes)
      return true
    }
    var bytes = Array(chunk.value[offset...])
    bytes.append(varint: UInt64(added.firstRow) - last)
    bytes += added.bytes
    try put(chunk.first, bytes, &writer, &changes)
    return true
  }

  private func rewrite(
    _ chunk: Saved?, _ removed: Set<UInt32>, _ added: [PostingChunk.Posting],
    _ writer: inout TableWriter, _ changes: inout ChangeSet
  ) throws(StoreError) {
    let old = try chunk.map { (chunk) throws(StoreError) in
      try readingPostings { () throws(PostingDamage) in
        try chunk.value.lend { (value) throws(PostingDamage) in
          try PostingChunk.postings(chunk.first, value)
        }
      }
    }
    // An added row was not there, or is removed.
    let new = Set(added.map(\.row))
    let kept = (old ?? []).filter { !removed.contains($0.row) && !new.contains($0.row) }
    if added.isEmpty, kept.count == old?.count ?? 0 { return }
    if let chunk, removed.isEmpty, chunk.value.count > PostingFormat.chunkSize / 2,
      let last = kept.last, let next = added.first, last.row < next.row,
      chunk.value.count + next.positions.count + 5 > PostingFormat.chunkSize
    {
      // The chunk is full: rows after it get chunks of their own.
      return put(added, &writer, &changes)
    }
    let postings = (kept + added).sorted { $0.row < $1.row }
    if let chunk, postings.first?.row != chunk.first {
      writer.put(prefix + PostingFormat.bytes(chunk.first), nil, &changes)
    }
    put(postings, &writer, &changes)
  }

  // MARK: Looking up

  /// Returns the chunk that a row would be in.
  private func chunk(through row: UInt32) throws(StoreError) -> Saved? {
    var found: Saved?
    let range = KeyRange(from: prefix, through: prefix + PostingFormat.bytes(row))
    _ = try backend.scanKeys(of: table, range, isReversed: true) {
      (key, value) throws(StoreError) in
      // The key of a chunk is the prefix followed by a row, and nothing else.
      guard key.byteCount == prefix.count + 4 else {
        throw StoreError.damagedPostings(PostingDamage())
      }
      found = Saved(first: PostingFormat.row(key), value: [UInt8](copying: value))
      return .pause
    }
    return found
  }

  /// Returns the first row of the next chunk after a row.
  private func nextFirst(after row: UInt32) throws(StoreError) -> UInt32? {
    var found: UInt32?
    let range = KeyRange(
      after: prefix + PostingFormat.bytes(row), to: KeyRange.end(ofPrefix: prefix))
    _ = try backend.scanKeys(of: table, range, isReversed: false) { (key, _) throws(StoreError) in
      guard key.byteCount == prefix.count + 4 else {
        throw StoreError.damagedPostings(PostingDamage())
      }
      found = PostingFormat.row(key)
      return .pause
    }
    return found
  }
}

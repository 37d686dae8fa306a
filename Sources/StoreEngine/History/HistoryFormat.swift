import Files

/// The history of a store: an ordered table with an entry for each commit.
///
/// A commit writes its own entry.
///
///     0              -->  format (1, 1), number of the last commit that is not remembered (8)
///     1 | number (8) -->  format (1, 1), the commit, see Commit+Encoding.swift
///                         tables: count (4), then for each: name (count + UTF-8), count of
///                             changes (4), and for each: row ID (4), change
///                         buffers: count (4), then for each: name (count + UTF-8), change
///
/// The numbers in keys have their highest byte first, all others their lowest. A change is what was
/// there before and what is there after it:
///
///     kind (1): 0 new, 1 changed, 2 gone
///     new, gone:  count (4) and the bytes
///     changed:    count (4) and the bytes before, how many of the first of them (4) and of the last
///                 (4) are still the same, count (4) and the bytes between these
enum HistoryFormat {
  /// The name of the table.
  static let table = OrderedTableName("CommitHistory", kind: .data)
  /// The key that says since when commits are remembered; it is there as long as they are.
  static let stampKey: [UInt8] = [0]
  private static let entryMark: UInt8 = 1
  private static let version: UInt8 = 1

  /// The key of the entry of a commit.
  static func key(_ number: UInt64) -> [UInt8] {
    var key = [entryMark]
    key.append(bigEndian: number)
    return key
  }

  /// The keys of all entries behind a commit.
  static func keys(after number: UInt64) -> KeyRange {
    KeyRange(after: key(number), to: KeyRange.end(ofPrefix: [entryMark]))
  }

  /// The keys of all entries up to and with a commit.
  static func keys(through number: UInt64) -> KeyRange {
    KeyRange(from: [entryMark], through: key(number))
  }

  // MARK: The stamp

  static func stamp(since number: UInt64) -> [UInt8] {
    var bytes = [version]
    bytes.append(littleEndian: number)
    return bytes
  }

  /// The number of the last commit that is not remembered.
  static func since(_ stamp: [UInt8]) throws(DataBufferError) -> UInt64 {
    var buffer = DataBuffer(stamp)
    try checkVersion(&buffer)
    return try buffer.readUInt64()
  }

  private static func checkVersion(_ buffer: inout DataBuffer) throws(DataBufferError) {
    guard try buffer.readUInt8() == version else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
  }

  // MARK: Entries

  static func encoded(_ entry: HistoryEntry) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.write(version)
    entry.commit.encode(to: &buffer)
    buffer.writeCount(entry.tables.count)
    for table in entry.tables {
      buffer.write(table.name)
      buffer.writeCount(table.records.count)
      for record in table.records {
        buffer.write(record.rowID)
        buffer.write(from: record.before, to: record.after)
      }
    }
    buffer.writeCount(entry.buffers.count)
    for change in entry.buffers {
      buffer.write(change.name)
      buffer.write(from: change.before, to: change.after)
    }
    return buffer.bytes
  }

  /// Reads the value of a key.
  static func entry(_ bytes: [UInt8], of key: [UInt8]) throws(DataBufferError) -> HistoryEntry {
    var buffer = DataBuffer(bytes)
    try checkVersion(&buffer)
    var entry = HistoryEntry(commit: try Commit(from: &buffer))
    // Whoever reads goes on behind this number, and must get further.
    guard key == Self.key(entry.commit.number) else {
      throw DataBufferError(.invalidValue, at: 1, "the entry of another commit")
    }
    for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
      var table = HistoryEntry.TableChanges(name: try buffer.readString())
      for _ in 0..<(try buffer.readCount(minimumElementSize: 9)) {
        let rowID = try buffer.readUInt32()
        let (before, after) = try buffer.readChange()
        table.records.append(.init(rowID: rowID, before: before, after: after))
      }
      entry.tables.append(table)
    }
    for _ in 0..<(try buffer.readCount(minimumElementSize: 9)) {
      let name = try buffer.readString()
      let (before, after) = try buffer.readChange()
      entry.buffers.append(.init(name: name, before: before, after: after))
    }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "an entry of a history ends here")
    }
    return entry
  }
}

extension DataBuffer {
  private enum ChangeKind {
    static let new: UInt8 = 0
    static let changed: UInt8 = 1
    static let gone: UInt8 = 2
  }

  fileprivate mutating func write(from before: [UInt8]?, to after: [UInt8]?) {
    switch (before, after) {
    case (let before?, let after?):
      write(ChangeKind.changed)
      let ends = CommonEnds(before, after, by: ==)
      write(before)
      writeCount(ends.prefix)
      writeCount(ends.suffix)
      write(Array(ends.middle(of: after)))
    case (let before?, nil):
      write(ChangeKind.gone)
      write(before)
    case (nil, let after):
      write(ChangeKind.new)
      write(after ?? [])
    }
  }

  fileprivate mutating func readChange() throws(DataBufferError) -> (
    before: [UInt8]?, after: [UInt8]?
  ) {
    let start = offset
    switch try readUInt8() {
    case ChangeKind.new: return (nil, try readBytes())
    case ChangeKind.gone: return (try readBytes(), nil)
    case ChangeKind.changed:
      let before = try readBytes()
      let (first, last) = (Int(try readUInt32()), Int(try readUInt32()))
      guard first + last <= before.count else {
        throw DataBufferError(.invalidValue, at: start, "a change keeps more than there was")
      }
      let middle = try readBytes()
      return (before, before[..<first] + middle + before[(before.count - last)...])
    default: throw DataBufferError(.invalidValue, at: start, "no kind of change")
    }
  }
}

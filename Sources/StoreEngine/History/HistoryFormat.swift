import Files
import FoundationEssentials

/// The format of a store's history: an ordered table with an entry for each commit.
///
/// Each commit writes its own entry, also a commit without changes, so numbers have no gaps.
///
///     0              -->  format (1, 2), number of the last commit before the history (8),
///                         ID of the history (16)
///     1 | number (8) -->  format (1, 2), the commit, see Commit+Encoding.swift
///                         tables: count (4), then for each: name (count + UTF-8), count of
///                             changes (4), and for each: row ID (4), change
///                         buffers: count (4), then for each: name (count + UTF-8), change
///                         ordered tables: count (4), then for each: name with its kind (count +
///                             UTF-8), whether it was cleared (1), count of changes (4), and for
///                             each: key (count and bytes), change
///     2 | name       -->  format (1, 1 or 2), number of the last commit that a consumer has seen (8),
///                         in format 2: the time until which the consumer counts (8), in
///                         microseconds since 1970
///
/// The numbers in keys are big-endian, all others little-endian. A change contains the state before
/// and after it:
///
///     kind (1): 0 new, 1 changed, 2 removed, 3 a key of an index that was removed
///     new, removed:  count (4) and the bytes
///     changed:       count (4) and the bytes before, the lengths of the unchanged prefix (4) and
///                    suffix (4), count (4) and the new bytes between them
///
/// An entry of format 1 ends after its buffers, and contains neither metadata rows nor internal
/// buffers of the store. A key 0 of format 1 has no ID.
package enum HistoryFormat {
  /// The name of the table.
  static let table = OrderedTableName("CommitHistory", kind: .data)
  /// The key with the beginning of the history; it exists as long as the history does.
  static let stampKey: [UInt8] = [0]
  static let entryMark: UInt8 = 1
  private static let consumerMark: UInt8 = 2
  private static let stampVersion: UInt8 = 2
  static let entryVersion: UInt8 = 2
  private static let consumerVersion: UInt8 = 1
  private static let consumerVersionWithTime: UInt8 = 2

  /// The size of the key of an entry.
  static let keyCount = 9

  /// Returns the key of the entry of a commit.
  static func key(_ number: UInt64) -> [UInt8] {
    var key = [entryMark]
    key.append(bigEndian: number)
    return key
  }

  /// Refuses an entry that is too large for a key's value.
  ///
  /// - Throws: ``StoreError`` with `tooLarge`.
  static func check(_ entry: [UInt8]) throws(StoreError) {
    guard entry.count > ChangeSet.maximumKeyByteCount else { return }
    throw ChangeSet.tooLarge(
      "The save with its old values", entry.count - keyCount, ChangeSet.maximumKeyByteCount,
      "maximumKeyByteCount", .init())
  }

  /// Whether a key is that of an entry.
  static func isKeyOfEntry(_ key: ArraySlice<UInt8>) -> Bool { key.first == entryMark }

  /// Returns the keys of all entries after a commit.
  static func keys(after number: UInt64) -> KeyRange {
    KeyRange(after: key(number), to: KeyRange.end(ofPrefix: [entryMark]))
  }

  /// Returns the number of the commit in the key of an entry; nil for another key.
  static func number(ofKey key: [UInt8]) -> UInt64? {
    guard key.count == keyCount, key[0] == entryMark else { return nil }
    return key[1...].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The keys of all consumers.
  static let consumers = KeyRange.prefix([consumerMark])

  static func key(ofConsumer name: String) -> [UInt8] { [consumerMark] + Array(name.utf8) }

  /// Returns the value of a consumer's key.
  static func encoded(_ consumer: HistoryConsumer) -> [UInt8] {
    var bytes = [consumer.endMicroseconds == nil ? consumerVersion : consumerVersionWithTime]
    bytes.append(littleEndian: consumer.number)
    if let end = consumer.endMicroseconds {
      bytes.append(littleEndian: UInt64(bitPattern: end))
    }
    return bytes
  }

  /// Decodes the value of a consumer's key.
  static func consumer(_ bytes: [UInt8]) throws(DataBufferError) -> HistoryConsumer {
    var buffer = DataBuffer(bytes)
    let version = try version(&buffer, upTo: consumerVersionWithTime)
    let number = try buffer.readUInt64()
    return HistoryConsumer(
      number: number,
      endMicroseconds: version == consumerVersion
        ? nil : Int64(bitPattern: try buffer.readUInt64()))
  }

  // MARK: The stamp

  /// The value of the first key of a history.
  struct Stamp: Equatable {
    /// The number of the last commit before the history.
    var since: UInt64
    /// The ID of the history; zeros in a history that was begun before histories had an ID.
    var id: UUID
  }

  static func encoded(_ stamp: Stamp) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.write(stampVersion)
    buffer.write(stamp.since)
    let id = CommitToken(stamp.id)
    buffer.write(id.high.byteSwapped)
    buffer.write(id.low.byteSwapped)
    return buffer.bytes
  }

  static func stamp(_ bytes: [UInt8]) throws(DataBufferError) -> Stamp {
    var buffer = DataBuffer(bytes)
    let version = try version(&buffer, upTo: stampVersion)
    let since = try buffer.readUInt64()
    if version == 1 { return Stamp(since: since, id: CommitToken.zero.uuid) }
    let id = CommitToken(
      high: try buffer.readUInt64().byteSwapped, low: try buffer.readUInt64().byteSwapped)
    return Stamp(since: since, id: id.uuid)
  }

  private static func version(
    _ buffer: inout DataBuffer, upTo known: UInt8
  ) throws(DataBufferError) -> UInt8 {
    let version = try buffer.readUInt8()
    guard (1...known).contains(version) else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
    return version
  }

  // MARK: Entries

  /// Returns the bytes of an entry.
  package static func encoded(_ entry: HistoryEntry) -> [UInt8] {
    var writer = HistoryEntryWriter(entry.commit)
    writer.append(entry)
    return writer.bytes
  }

  /// Decodes the value of a key.
  package static func entry(_ bytes: [UInt8], of key: [UInt8]) throws(DataBufferError)
    -> HistoryEntry
  {
    var buffer = DataBuffer(bytes)
    let version = try version(&buffer, upTo: entryVersion)
    var entry = HistoryEntry(commit: try Commit(from: &buffer))
    // A reader continues after this number, and must not go backwards.
    guard key == Self.key(entry.commit.number) else {
      throw DataBufferError(.invalidValue, at: 1, "it is the entry of another commit")
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
    if version > 1 { entry.orderedTables = try orderedTables(&buffer) }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "the entry should end here")
    }
    return entry
  }

  private static func orderedTables(
    _ buffer: inout DataBuffer
  ) throws(DataBufferError) -> [HistoryEntry.OrderedTableChanges] {
    var tables: [HistoryEntry.OrderedTableChanges] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 9)) {
      let start = buffer.offset
      guard let name = OrderedTableName(fileName: try buffer.readString()) else {
        throw DataBufferError(.invalidValue, at: start, "invalid name of an ordered table")
      }
      var table = HistoryEntry.OrderedTableChanges(name: name)
      table.isCleared = try buffer.readBool()
      for _ in 0..<(try buffer.readCount(minimumElementSize: 5)) {
        let key = try buffer.readBytes()
        let (before, after) = try buffer.readChange(isOfIndex: name.kind == .index)
        table.keys.append(.init(key: key, before: before, after: after))
      }
      tables.append(table)
    }
    return tables
  }
}

extension DataBuffer {
  fileprivate mutating func readChange(
    isOfIndex: Bool = false
  ) throws(DataBufferError) -> (before: [UInt8]?, after: [UInt8]?) {
    let start = offset
    switch try readUInt8() {
    case HistoryEntryWriter.ChangeKind.new: return (nil, try readBytes())
    case HistoryEntryWriter.ChangeKind.removed: return (try readBytes(), nil)
    case HistoryEntryWriter.ChangeKind.changed:
      let before = try readBytes()
      let (first, last) = (Int(try readUInt32()), Int(try readUInt32()))
      guard first + last <= before.count else {
        throw DataBufferError(
          .invalidValue, at: start, "the unchanged part of a change is longer than its old bytes")
      }
      let middle = try readBytes()
      return (before, before[..<first] + middle + before[(before.count - last)...])
    case HistoryEntryWriter.ChangeKind.removedFromIndex where isOfIndex: return (nil, nil)
    default: throw DataBufferError(.invalidValue, at: start, "unknown kind of change")
    }
  }
}

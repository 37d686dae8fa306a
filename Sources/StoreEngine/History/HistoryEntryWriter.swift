import Files

/// Encodes an entry of the history piece by piece, in the layout of ``HistoryFormat``.
///
/// The count of a list is written when the list ends, so a commit is encoded from its change set
/// without an entry in memory.
struct HistoryEntryWriter {
  /// The kinds of changes in the format.
  enum ChangeKind {
    static let new: UInt8 = 0
    static let changed: UInt8 = 1
    static let removed: UInt8 = 2
    static let removedFromIndex: UInt8 = 3
  }

  /// A list whose end has not been reached.
  struct List {
    let offset: Int
    var count: UInt32 = 0

    var isEmpty: Bool { count == 0 }
  }

  var bytes: [UInt8] = []

  /// Begins the entry of a commit, after its key if that is wanted.
  init(_ commit: Commit, behindKey hasKey: Bool = false) {
    // Most saves are small, and have their bytes before and after.
    bytes.reserveCapacity(512)
    var head = IntegerBytes()
    if hasKey {
      head.add(HistoryFormat.entryMark)
      head.add(commit.number.byteSwapped)
    }
    head.add(HistoryFormat.entryVersion)
    bytes.append(head)
    commit.encode(to: &bytes)
  }

  /// Begins a list, whose elements follow.
  mutating func beginList() -> List {
    defer { append(0) }
    return List(offset: bytes.count)
  }

  mutating func end(_ list: List) { set(list.count, at: list.offset) }

  /// Overwrites four bytes by a number.
  mutating func set(_ number: UInt32, at offset: Int) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: number >> UInt32(8 * index))
    }
  }

  mutating func append(_ isCleared: Bool) { bytes.append(isCleared ? 1 : 0) }

  mutating func append(_ name: String) {
    append(name.utf8.count)
    bytes += name.utf8
  }

  mutating func append(_ key: ArraySlice<UInt8>) {
    append(key.count)
    bytes += key
  }

  private mutating func append(
    _ rowID: UInt32, from before: [UInt8]?, to after: ArraySlice<UInt8>?, in list: inout List
  ) {
    bytes.append(littleEndian: rowID)
    append(from: before, to: after)
    list.count += 1
  }

  mutating func append(
    _ key: ArraySlice<UInt8>, from before: [UInt8]?, to after: ArraySlice<UInt8>?,
    in list: inout List
  ) {
    append(key)
    append(from: before, to: after)
    list.count += 1
  }

  mutating func append(
    _ name: String, from before: [UInt8]?, to after: ArraySlice<UInt8>?, in list: inout List
  ) {
    append(name)
    append(from: before, to: after)
    list.count += 1
  }

  /// Appends an element of a list of lists, or takes it back if its list is empty.
  mutating func append<Failure: Error>(
    to list: inout List, _ body: (inout HistoryEntryWriter) throws(Failure) -> Bool
  ) throws(Failure) {
    let start = bytes.count
    if try body(&self) { list.count += 1 } else { bytes.removeSubrange(start...) }
  }

  private mutating func append(from before: [UInt8]?, to after: ArraySlice<UInt8>?) {
    switch (before, after) {
    case (let before?, let after?):
      bytes.append(ChangeKind.changed)
      append(before[...])
      let ends = CommonEnds(before[...], after)
      append(ends.prefix)
      append(ends.suffix)
      append(after[(after.startIndex + ends.prefix)..<(after.endIndex - ends.suffix)])
    case (let before?, nil):
      bytes.append(ChangeKind.removed)
      append(before[...])
    case (nil, let after?):
      bytes.append(ChangeKind.new)
      append(after)
    case (nil, nil):
      bytes.append(ChangeKind.removedFromIndex)
    }
  }

  /// Appends the changes of an entry.
  mutating func append(_ entry: HistoryEntry) {
    var tables = beginList()
    for table in entry.tables {
      append(to: &tables) { writer in
        writer.append(table.name)
        var records = writer.beginList()
        for change in table.records {
          writer.append(change.rowID, from: change.before, to: change.after?[...], in: &records)
        }
        writer.end(records)
        return true
      }
    }
    end(tables)
    var buffers = beginList()
    for change in entry.buffers {
      append(change.name, from: change.before, to: change.after?[...], in: &buffers)
    }
    end(buffers)
    var ordered = beginList()
    for table in entry.orderedTables {
      append(to: &ordered) { writer in
        writer.append(table.name.fileName)
        writer.append(table.isCleared)
        var keys = writer.beginList()
        for change in table.keys {
          writer.append(change.key[...], from: change.before, to: change.after?[...], in: &keys)
        }
        writer.end(keys)
        return true
      }
    }
    end(ordered)
  }

  /// Appends a count; an entry with more than 32 bits of bytes is refused as too large later.
  private mutating func append(_ count: Int) {
    bytes.append(littleEndian: UInt32(truncatingIfNeeded: count))
  }
}

/// The parts of a history that the functions of a server read and write.
///
/// A server adds the entry of a commit itself, in the transaction of the commit: only the server
/// knows the state that the commit changes.
package enum ServerHistory {
  /// The ordered table of the history.
  package static var table: OrderedTableName { HistoryFormat.table }
  /// The ordered table that makes a store a follower: it has one key.
  package static var followerTable: OrderedTableName { FollowerMark.table }
  /// The key that exists as long as the history does.
  package static var stampKey: [UInt8] { HistoryFormat.stampKey }

  /// The number of bytes of the key of an entry, which is shorter than any sealed key.
  package static let entryKeyByteCount = 9

  /// Whether a key is that of an entry.
  package static func isKeyOfEntry(_ key: some RandomAccessCollection<UInt8>) -> Bool {
    key.count == entryKeyByteCount && key.first == HistoryFormat.entryMark
  }

  /// Whether a range contains only keys of entries.
  package static func hasOnlyEntries(_ range: KeyRange) -> Bool {
    guard range.from.first == HistoryFormat.entryMark, let to = range.to else { return false }
    return !([HistoryFormat.entryMark + 1].lexicographicallyPrecedes(to))
  }

  /// Whether a key in the list of external values keeps a value for the history.
  package static func isKeyOfKeptValue(_ key: some RandomAccessCollection<UInt8>) -> Bool {
    guard key.count == 1 + ExternalID.byteCount + 5, key.first == 0 else { return false }
    let owner = key.suffix(5)
    return owner.first == .max && owner.dropFirst().contains { $0 != 0 }
  }

  /// Returns the part of the key of a kept value that it shares with other keys of the value.
  package static func keyOfValue(_ key: [UInt8]) -> ArraySlice<UInt8> {
    key.prefix(1 + ExternalID.byteCount)
  }

  /// Returns the number of the last commit before the history, from the value of the stamp.
  package static func start(_ stamp: [UInt8]) -> UInt64? {
    (try? HistoryFormat.stamp(stamp))?.since
  }

  /// Whether changes do nothing but remove entries and the values that they keep.
  package static func onlyShortens(
    _ changes: ChangeSet, history: OrderedTableID, values: OrderedTableID
  ) -> Bool {
    guard changes.tables.isEmpty, changes.names.isEmpty else { return false }
    var hasStamp = false
    for table in changes.ordered {
      if table.clearsFirst { return false }
      for change in table.changes {
        let isStamp = table.table == history && changes.bytes[change.key].elementsEqual(stampKey)
        if isStamp, !change.isRemoval { hasStamp = true }
        guard change.isRemoval != isStamp, [history, values].contains(table.table) else {
          return false
        }
      }
    }
    return hasStamp
  }
}

import Files
import StoreEngine

// The history of an encrypted store:
//
//     key of the stamp, of an entry, of a     as it is, so that the server can write it
//       value that is kept for an entry
//     value of the stamp                      as it is
//     entry written by a program              0 | key | value, sealed as any value is
//     entry written by the server             1 | sealed author | entry, in which all names, records,
//                                               buffers, keys and values are as the server has them
//     value kept for an entry                 key | value of the key that the commit has removed,
//                                               which begins with the same value
extension ServerSealing {
  /// Whether the server has a key as it is.
  static func isPlain(_ key: some RandomAccessCollection<UInt8>, _ table: OrderedTableName) -> Bool
  {
    // A sealed key is longer than each of these.
    if table == ServerHistory.table {
      return key.elementsEqual(ServerHistory.stampKey) || ServerHistory.isKeyOfEntry(key)
    }
    return table == ExternalCatalogue.table && ServerHistory.isKeyOfKeptValue(key)
  }

  /// Whether the server has the value of a key as it is.
  static func hasPlainValue(
    _ key: some RandomAccessCollection<UInt8>, _ table: OrderedTableName
  ) -> Bool {
    table == ServerHistory.table && key.elementsEqual(ServerHistory.stampKey)
  }

  /// Whether a key is that of an entry.
  static func isEntry(
    _ key: some RandomAccessCollection<UInt8>, _ table: OrderedTableName
  ) -> Bool {
    table == ServerHistory.table && ServerHistory.isKeyOfEntry(key)
  }

  /// Returns the beginning that the sealed key of a value has in common with its own key.
  static func sealedPrefix(of key: [UInt8], in table: OrderedTableName) -> ArraySlice<UInt8> {
    let isKept = table == ExternalCatalogue.table && ServerHistory.isKeyOfKeptValue(key)
    return isKept ? ServerHistory.keyOfValue(key) : key[...]
  }

  /// Opens an entry that the server has written.
  func openEntry(_ bytes: [UInt8], of key: [UInt8]) throws(StoreError) -> [UInt8] {
    do {
      var buffer = DataBuffer(bytes)
      let author: [UInt8] = try buffer.readBytes()
      let sealed = try HistoryFormat.entry(Array(bytes[buffer.offset...]), of: key)
      return HistoryFormat.encoded(try opened(sealed, author: author))
    } catch let error as StoreError {
      throw error
    } catch { throw ServerFailure.notAuthentic.error(at: location) }
  }

  private func opened(
    _ sealed: HistoryEntry, author: [UInt8]
  ) throws -> HistoryEntry {
    let commit = sealed.commit
    let opened = Commit(
      number: commit.number, token: commit.token,
      author: try open(author: author, of: commit.token), microseconds: commit.microseconds,
      basedOn: commit.basedOn)
    return HistoryEntry(
      commit: opened, tables: try sealed.tables.compactMap(self.opened),
      buffers: try sealed.buffers.compactMap(self.opened),
      orderedTables: try sealed.orderedTables.compactMap(self.opened))
  }

  // Sealed bytes differ each time, so changes that are none are left out here.

  private func opened(
    _ table: HistoryEntry.TableChanges
  ) throws -> HistoryEntry.TableChanges? {
    let scope = sealing.seal.scope(of: table.name)
    let name = try self.opened(table.name)
    let records = try table.records.compactMap { record in
      let open = { (bytes: [UInt8]) throws in
        try self.open(bytes, self.sealing.location(record.rowID, in: scope), className: name)
      }
      let (before, after) = (try record.before.map(open), try record.after.map(open))
      return before == after
        ? nil : HistoryEntry.RecordChange(rowID: record.rowID, before: before, after: after)
    }
    return records.isEmpty ? nil : HistoryEntry.TableChanges(name: name, records: records)
  }

  private func opened(
    _ change: HistoryEntry.BufferChange
  ) throws -> HistoryEntry.BufferChange? {
    let open = { (bytes: [UInt8]) throws in
      try bytes.lend { (bytes) throws(StoreError) in try self.open(bytes, ofBuffer: change.name) }
    }
    let (before, after) = (try change.before.map(open), try change.after.map(open))
    return before == after
      ? nil
      : HistoryEntry.BufferChange(name: try opened(change.name), before: before, after: after)
  }

  private func opened(
    _ table: HistoryEntry.OrderedTableChanges
  ) throws -> HistoryEntry.OrderedTableChanges? {
    let name = OrderedTableName(try opened(table.name.name), kind: table.name.kind)
    var keys = try table.keys.compactMap { change in
      let key = try self.open(change.key, of: name)
      let open = { (bytes: [UInt8]) throws in
        try bytes.lend { (bytes) throws(StoreError) in
          try self.open(bytes, ofKey: key, in: name)
        }
      }
      let (before, after) = (try change.before.map(open), try change.after.map(open))
      return before == after && name.kind == .data
        ? nil : HistoryEntry.KeyChange(key: key, before: before, after: after)
    }
    if keys.isEmpty, !table.isCleared { return nil }
    if name.kind == .data { keys.sort { $0.key.lexicographicallyPrecedes($1.key) } }
    return HistoryEntry.OrderedTableChanges(
      name: name, isCleared: table.isCleared, keys: keys)
  }

  private func open(
    _ sealed: [UInt8], _ place: SealedLocation, className: String
  ) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    try sealed.lend { (sealed) throws(StoreError) in
      try sealing.open(sealed, place, to: &bytes) { .init(path: location, className: className) }
    }
    return bytes
  }
}

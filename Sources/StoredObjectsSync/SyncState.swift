import Files
import FoundationEssentials
import KeyValueStoreCore
import StoreEngine

/// The state of a device, in the ordered table of ``SyncTable``.
///
///     0                   -->  format (1), the server's history as far as it is in the store:
///                              history ID (16), number (8), token (16); the last own commit that
///                              has been looked at (8)
///     1 | sequence (8)    -->  a commit that the server does not have, as an entry of a history
///     2 | name of a class -->  count (4), and for each: first (4) and last row ID (4) that the
///                              device may still give out
///     3 | number (4)      -->  the name of the key-value table that has this number on the server
///
/// A state of format 1 belongs to a device that keeps its items for itself. A commit is in the form
/// of ``PendingCommit/whole``.
///
/// Numbers in keys are big-endian, all others little-endian.
struct SyncState: Sendable, Equatable {
  /// The last commit of the server that the store contains.
  var position: HistoryPosition
  /// The last commit of the store whose changes are known to be pending, or from the server.
  var localNumber: UInt64
  /// Whether items of key-value stores are synchronized.
  var hasItems: Bool
  private static let versionWithoutItems: UInt8 = 1
  private static let version: UInt8 = 2

  init(position: HistoryPosition, localNumber: UInt64, hasItems: Bool = true) {
    (self.position, self.localNumber, self.hasItems) = (position, localNumber, hasItems)
  }

  init(_ bytes: [UInt8]) throws(DataBufferError) {
    var buffer = DataBuffer(bytes)
    let version = try buffer.readUInt8()
    guard (Self.versionWithoutItems...Self.version).contains(version) else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
    hasItems = version > Self.versionWithoutItems
    position = try HistoryPosition(from: &buffer)
    localNumber = try buffer.readUInt64()
  }

  var bytes: [UInt8] {
    var buffer = DataBuffer()
    buffer.write(hasItems ? Self.version : Self.versionWithoutItems)
    position.encode(to: &buffer)
    buffer.write(localNumber)
    return buffer.bytes
  }

  // MARK: Keys

  static let commitMark: UInt8 = 1
  static let leaseMark: UInt8 = 2
  static let tableMark: UInt8 = 3

  static func key(ofCommit sequence: UInt64) -> [UInt8] {
    var key = [commitMark]
    key.append(bigEndian: sequence)
    return key
  }

  static func sequence(ofKey key: [UInt8]) -> UInt64 {
    key.dropFirst().reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func key(ofLeases className: String) -> [UInt8] { [leaseMark] + Array(className.utf8) }

  static func key(ofTable number: UInt32) -> [UInt8] {
    var key = [tableMark]
    key.append(bigEndian: number)
    return key
  }
}

extension StoreBackend {
  /// Returns the state of the device; nil for a store that belongs to none.
  func syncState() throws(StoreError) -> SyncState? {
    var bytes: [UInt8] = []
    let table = try orderedTable(SyncTable.name)
    guard try copyValue(of: SyncTable.stateKey, in: table, to: &bytes) else { return nil }
    do { return try SyncState(bytes) } catch { throw damagedSyncTable(error) }
  }

  /// Returns the commits that are in the device's table, in order.
  func storedCommits() throws(StoreError) -> [PendingCommit] {
    var (commits, failure) = ([PendingCommit](), DataBufferError?.none)
    let table = try orderedTable(SyncTable.name)
    _ = try scanKeys(of: table, .prefix([SyncState.commitMark]), isReversed: false) { key, value in
      do throws(DataBufferError) {
        commits.append(
          PendingCommit(
            sequence: SyncState.sequence(ofKey: [UInt8](copying: key)),
            entry: try HistoryFormat.entry([UInt8](copying: value))))
      } catch {
        failure = error
        return .pause
      }
      return .next
    }
    if let failure { throw damagedSyncTable(failure) }
    return try commits.map { (one) throws(StoreError) in
      try PendingCommit(sequence: one.sequence, whole: one.entry)
    }
  }

  /// Returns the key-value tables of the server, as far as the store has its commits; nil if the
  /// device keeps its items for itself.
  func serverTables() throws(StoreError) -> ItemTables? {
    guard try syncState()?.hasItems == true else { return nil }
    var names: [UInt32: [UInt8]] = [:]
    let table = try orderedTable(SyncTable.name)
    _ = try scanKeys(of: table, .prefix([SyncState.tableMark]), isReversed: false) { key, value in
      let number = [UInt8](copying: key).dropFirst().reduce(0) { $0 << 8 | UInt32($1) }
      names[number] = [UInt8](copying: value)
      return .next
    }
    return ItemTables(names)
  }

  /// Returns the row IDs that the device may still give out, by class.
  func storedLeases() throws(StoreError) -> [String: [ClosedRange<UInt32>]] {
    var (leases, failure) = ([String: [ClosedRange<UInt32>]](), DataBufferError?.none)
    let table = try orderedTable(SyncTable.name)
    _ = try scanKeys(of: table, .prefix([SyncState.leaseMark]), isReversed: false) { key, value in
      var buffer = DataBuffer([UInt8](copying: value))
      let name = String(decoding: [UInt8](copying: key).dropFirst(), as: UTF8.self)
      do throws(DataBufferError) {
        for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
          let (first, last) = (try buffer.readUInt32(), try buffer.readUInt32())
          guard first <= last else {
            throw DataBufferError(.invalidValue, at: buffer.offset, "no range of row IDs")
          }
          leases[name, default: []].append(first...last)
        }
      } catch {
        failure = error
        return .pause
      }
      return .next
    }
    if let failure { throw damagedSyncTable(failure) }
    return leases
  }

  private func damagedSyncTable(_ error: DataBufferError) -> StoreError {
    StoreError(
      .damaged,
      "The state of the device makes no sense: \(error). Begin with an empty store.",
      at: .init(path: location, className: SyncTable.name.fileName), underlying: error)
  }
}

extension ChangeSet {
  /// Sets the state of a device.
  mutating func set(_ state: SyncState, in table: OrderedTableID) {
    set(SyncTable.stateKey, to: state.bytes, in: table)
  }

  /// Sets the key-value tables of the server.
  mutating func set(_ tables: ItemTables, from old: ItemTables, in table: OrderedTableID) {
    for number in old.names.keys.sorted() where tables.names[number] == nil {
      set(SyncState.key(ofTable: number), to: nil, in: table)
    }
    for (number, name) in tables.names.sorted(by: { $0.key < $1.key })
    where old.names[number] != name {
      set(SyncState.key(ofTable: number), to: name, in: table)
    }
  }

  /// Sets the row IDs that the device may still give out.
  mutating func set(
    _ leases: [ClosedRange<UInt32>], of className: String, in table: OrderedTableID
  ) {
    var buffer = DataBuffer()
    buffer.writeCount(leases.count)
    for rows in leases {
      buffer.write(rows.lowerBound)
      buffer.write(rows.upperBound)
    }
    set(SyncState.key(ofLeases: className), to: leases.isEmpty ? nil : buffer.bytes, in: table)
  }
}

import Files
import FoundationEssentials
import StoreEngine

/// The state of a device, in the ordered table of ``SyncTable``.
///
///     0                   -->  format (1), the server's history as far as it is in the store:
///                              history ID (16), number (8), token (16); the last own commit that
///                              has been looked at (8)
///     1 | sequence (8)    -->  a commit that the server does not have, as an entry of a history
///     2 | name of a class -->  count (4), and for each: first (4) and last row ID (4) that the
///                              device may still give out
///
/// Numbers in keys are big-endian, all others little-endian.
struct SyncState: Sendable, Equatable {
  /// The last commit of the server that the store contains.
  var position: HistoryPosition
  /// The last commit of the store whose changes are known to be pending, or from the server.
  var localNumber: UInt64
  private static let version: UInt8 = 1

  init(position: HistoryPosition, localNumber: UInt64) {
    (self.position, self.localNumber) = (position, localNumber)
  }

  init(_ bytes: [UInt8]) throws(DataBufferError) {
    var buffer = DataBuffer(bytes)
    guard try buffer.readUInt8() == Self.version else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
    position = try HistoryPosition(from: &buffer)
    localNumber = try buffer.readUInt64()
  }

  var bytes: [UInt8] {
    var buffer = DataBuffer()
    buffer.write(Self.version)
    position.encode(to: &buffer)
    buffer.write(localNumber)
    return buffer.bytes
  }

  // MARK: Keys

  static let commitMark: UInt8 = 1
  static let leaseMark: UInt8 = 2

  static func key(ofCommit sequence: UInt64) -> [UInt8] {
    var key = [commitMark]
    key.append(bigEndian: sequence)
    return key
  }

  static func sequence(ofKey key: [UInt8]) -> UInt64 {
    key.dropFirst().reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func key(ofLeases className: String) -> [UInt8] { [leaseMark] + Array(className.utf8) }
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
    return commits
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

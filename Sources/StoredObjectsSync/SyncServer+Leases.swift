import Files
import StoreEngine
import StoredObjectsCore

/// The row IDs that a server has given to devices, in an ordered table of its store.
///
///     length of the device's ID (1) | ID | class name | 0 | first row ID (4)  -->  last row ID (4)
///
/// Numbers in keys are big-endian, in values little-endian.
enum LeaseTable {
  static let name = OrderedTableName("SynchronizationRows", kind: .data)

  static func prefix(_ device: SyncDevice) -> [UInt8] {
    let id = Array(device.id.utf8)
    return [UInt8(id.count)] + id
  }

  static func key(_ device: SyncDevice, _ lease: RowLease) -> [UInt8] {
    var key = prefix(device) + Array(lease.className.utf8) + [0]
    key.append(bigEndian: lease.rows.lowerBound)
    return key
  }

  static func value(_ lease: RowLease) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.write(lease.rows.upperBound)
    return buffer.bytes
  }

  /// Reads a lease; nil for bytes that make no sense.
  static func lease(_ key: [UInt8], _ value: [UInt8], of device: SyncDevice) -> RowLease? {
    let rest = key.dropFirst(prefix(device).count)
    guard rest.count > 5, value.count == 4, rest.dropLast(4).last == 0 else { return nil }
    let first = rest.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    var buffer = DataBuffer(value)
    guard let last = try? buffer.readUInt32(), first <= last else { return nil }
    return RowLease(
      className: String(decoding: rest.dropLast(5), as: UTF8.self), rows: first...last)
  }
}

extension SyncServer {
  /// Returns the row IDs that a device has ever got, by class.
  func leases(of device: SyncDevice) throws(StoreError) -> [String: [ClosedRange<UInt32>]] {
    var leases: [String: [ClosedRange<UInt32>]] = [:]
    var isDamaged = false
    let table = try backend.orderedTable(LeaseTable.name)
    _ = try backend.scanKeys(of: table, .prefix(LeaseTable.prefix(device)), isReversed: false) {
      key, value in
      let lease = LeaseTable.lease([UInt8](copying: key), [UInt8](copying: value), of: device)
      guard let lease else {
        isDamaged = true
        return .pause
      }
      leases[lease.className, default: []].append(lease.rows)
      return .next
    }
    if isDamaged {
      throw StoreError(
        .damaged, "The list of row IDs of devices makes no sense: salvage the store.",
        at: .init(path: backend.location, className: LeaseTable.name.fileName))
    }
    return leases
  }

  /// Makes the classes of a device known, and gives it row IDs.
  func join(_ classes: [SyncClass], _ device: SyncDevice) throws(StoreError) -> [RowLease] {
    guard Set(classes.map(\.name)).count == classes.count else {
      throw StoreError(.invalidArgument, "The request names a class twice.")
    }
    guard classes.allSatisfy({ $0.rowCount <= limits.rowCount }) else {
      throw StoreError(
        .invalidArgument, "A request gets at most \(limits.rowCount) row IDs of a class.")
    }
    let backend = backend
    return try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      var (changes, leases) = (ChangeSet(), [RowLease]())
      var known: [(TableID, ClassMetadata)] = []
      for one in classes {
        let table = try backend.table(named: one.name)
        let saved = try backend.classMetadata(of: one.name)
        var metadata = try metadata(of: one, saved, table)
        if try addLayouts(of: one, to: &changes) { metadata.flags?.insert(.layouts) }
        if one.rowCount > 0 {
          // The first rows of a class that has none yet begin behind its metadata row.
          backend.coordinator.table(table).learn(saved ?? metadata)
          let rows = try backend.reserveRows(one.rowCount, in: table)
          metadata.lastRowID = max(metadata.lastRowID, rows.upperBound)
          leases.append(RowLease(className: one.name, rows: rows))
        }
        if metadata == saved { continue }
        var row = DataBuffer()
        metadata.write(to: &row)
        changes.set(row.bytes, of: ClassMetadata.rowID, in: table)
        known.append((table, metadata))
      }
      if !leases.isEmpty {
        let table = try backend.orderedTable(LeaseTable.name)
        for lease in leases {
          changes.set(LeaseTable.key(device, lease), to: LeaseTable.value(lease), in: table)
        }
      }
      if changes.isEmpty { return [] }
      try backend.commit(changes, CommitRequest(author: "sync"))
      for (table, metadata) in known { backend.coordinator.table(table).setMetadata(metadata) }
      return leases
    }
  }

  /// Returns the metadata of a class, which gets an ID if it is new.
  private func metadata(
    of one: SyncClass, _ saved: ClassMetadata?, _ table: TableID
  ) throws(StoreError) -> ClassMetadata {
    var buffer = DataBuffer(one.metadata)
    var offered: ClassMetadata
    do { offered = try ClassMetadata(from: &buffer) } catch {
      throw StoreError(
        .invalidArgument, "The metadata of class \(one.name) makes no sense: \(error)",
        at: .init(className: one.name))
    }
    if var known = saved {
      known.classVersion = max(known.classVersion, offered.classVersion)
      return known
    }
    let taken = try backend.takenClassIDs()
    guard let id = backend.coordinator.reserveClassID(for: table, besides: taken) else {
      throw StoreError(.tooManyClasses, "A store has at most 255 classes.")
    }
    (offered.classID, offered.lastRowID) = (id, 1)
    return offered
  }

  /// Adds the layouts of a class that the store does not have; returns whether it has any.
  private func addLayouts(
    of one: SyncClass, to changes: inout ChangeSet
  ) throws(StoreError) -> Bool {
    if one.layouts.isEmpty { return false }
    if let new = try backend.layouts(extendedBy: one.layouts, of: one.name) {
      changes.set(new, named: one.name + InternalBuffers.layoutsSuffix)
    }
    return true
  }
}

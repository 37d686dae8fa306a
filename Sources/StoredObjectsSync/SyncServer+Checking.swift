import FoundationEssentials
import KeyValueStoreCore
import StoreEngine
import StoredObjectsCore

extension SyncServer {
  /// Reads a commit of a device, and refuses one that a device may not make.
  ///
  /// - Parameters:
  ///   - bytes: The commit, as an entry of a history.
  ///   - leases: The row IDs of the device, by class.
  /// - Returns: The commit.
  /// - Throws: `StoreError` with `invalidArgument`, `tooLarge`, `damaged`, `ioError` or `closed`.
  func checked(
    _ bytes: [UInt8], _ leases: [String: [ClosedRange<UInt32>]]
  ) throws(StoreError) -> PendingCommit {
    let entry: HistoryEntry
    do { entry = try HistoryFormat.entry(bytes) } catch {
      throw refused("it makes no sense: \(error)")
    }
    guard entry.orderedTables.allSatisfy({ ItemChanges.areIn($0.name) }) else {
      throw refused("it changes keys")
    }
    guard Set(entry.tables.map(\.name)).count == entry.tables.count,
      Set(entry.buffers.map(\.name)).count == entry.buffers.count,
      Set(entry.orderedTables.map(\.name)).count == entry.orderedTables.count
    else { throw refused("it names something twice") }
    if let name = entry.buffers.map(\.name).first(where: InternalBuffers.contain) {
      throw refused("it changes the buffer \(name)")
    }
    guard entry.commit.author.utf8.count <= 255 else { throw refused("its author is too long") }
    guard entry.commit.hasToken else { throw refused("it has no token") }
    for table in entry.tables {
      guard let metadata = try backend.classMetadata(of: table.name) else {
        throw refused("class \(table.name) is not known: ask for row IDs first")
      }
      try check(table, metadata, leases[table.name] ?? [])
    }
    return try PendingCommit(whole: entry)
  }

  private func check(
    _ table: HistoryEntry.TableChanges, _ metadata: ClassMetadata, _ leases: [ClosedRange<UInt32>]
  ) throws(StoreError) {
    var rows: Set<UInt32> = []
    let id = try backend.table(named: table.name)
    for record in table.records {
      guard record.rowID > ClassMetadata.rowID, record.rowID <= metadata.lastRowID else {
        throw refused("\(table.name) has no row \(record.rowID)")
      }
      guard rows.insert(record.rowID).inserted else {
        throw refused("it changes row \(record.rowID) of \(table.name) twice")
      }
      if record.after == nil || leases.contains(where: { $0.contains(record.rowID) }) { continue }
      // A row of another device can be changed, or come back, but not begin.
      if try backend.withRecord(record.rowID, in: id, { _ in true }) == true { continue }
      guard try wasDeleted(record.rowID, table.name) else {
        throw refused("row \(record.rowID) of \(table.name) was given to someone else")
      }
    }
  }

  /// Whether the history has a commit that has deleted a row.
  private func wasDeleted(_ rowID: UInt32, _ className: String) throws(StoreError) -> Bool {
    var isFound = false
    do {
      try backend.forEachHistoryEntry(after: try backend.historyStart() ?? 0) { entry in
        isFound = entry.tables.contains { table in
          table.name == className
            && table.records.contains { $0.rowID == rowID && $0.after == nil }
        }
        return isFound ? .pause : .next
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
    return isFound
  }

  private func refused(_ reason: String) -> StoreError {
    StoreError(
      .invalidArgument, "A commit of the device was refused: \(reason).",
      at: .init(path: backend.location))
  }
}

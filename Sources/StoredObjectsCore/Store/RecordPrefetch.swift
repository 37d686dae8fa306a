import Locks
import StoreEngine

/// Reads batches on another thread, while earlier records are made into objects.
///
/// The thread copies bytes from the files and verifies their checksums. When it is ahead, it also
/// makes the objects, if their class allows it.
final class RecordPrefetch {
  /// The result of reading one batch.
  struct Reading: Sendable {
    var batch = RecordBatch(limits: .large)
    /// The objects of the records; nil if they are still to be made.
    var objects: MadeObjects?
    /// Whether all checksums have been verified and removed.
    var isVerified = false
    /// The number of commits of the table before the batch was read.
    var commitCount: UInt64 = 0
    var end: Result<ScanEnd, any Error> = .success(.finished)
  }

  private let readings = Channel<Reading>(capacity: 2)
  private var thread: JoinedThread?

  /// The table to read, and how to read it.
  struct Source: Sendable {
    let backend: any StoreBackend
    let table: TableID
    let shared: SharedTable
    /// The class ID that the records' checksums include; nil if they have no checksums.
    let checksumClassID: UInt8?
    /// Makes objects from records; nil if only the store can.
    let maker: ObjectMaker?

    init(_ entry: RegisteredClass, _ backend: any StoreBackend, makesObjects: Bool) {
      self.backend = backend
      table = entry.table
      shared = entry.shared
      checksumClassID = entry.checksumsRecords ? entry.classID : nil
      maker = makesObjects ? ObjectMaker(entry) : nil
    }

    /// Reads a batch.
    func read(from position: ScanPosition?) -> Reading {
      var reading = Reading()
      reading.commitCount = shared.commitCount
      reading.batch.reserveCapacity()
      do {
        let end = try backend.copyRecords(of: table, from: position, to: &reading.batch)
        reading.end = .success(end)
        reading.isVerified =
          checksumClassID.map { reading.batch.verifyChecksums(classID: $0) } ?? true
      } catch {
        reading.end = .failure(error)
      }
      return reading
    }
  }

  /// Makes the objects of a reading, and stops trying for good if that fails.
  private static func makeObjects(_ reading: inout Reading, _ maker: inout ObjectMaker?) {
    reading.objects = reading.isVerified ? maker?.objects(of: &reading.batch) : nil
    if reading.objects == nil { maker = nil }
  }

  /// Starts reading behind a position; nil if no thread could be started.
  init?(_ source: Source, from position: ScanPosition) {
    let readings = readings
    thread = JoinedThread {
      var position = position
      var maker = source.maker
      while true {
        var reading = source.read(from: position)
        if !readings.isEmpty { Self.makeObjects(&reading, &maker) }
        guard readings.put(reading), case .success(.paused(let next)) = reading.end else { break }
        position = next
      }
      readings.close()
    }
    if thread == nil { return nil }
  }

  deinit {
    readings.close()
    // Joins the thread, so that it does not retain the backend any longer.
    thread = nil
  }

  /// Returns the next reading; nil after the last one or an error.
  func next() -> Reading? { readings.take() }
}

extension RecordBatch {
  /// Verifies the checksums of all records, and removes them if all are right.
  ///
  /// - Returns: false if a checksum is wrong; then nothing has changed.
  mutating func verifyChecksums(classID: UInt8) -> Bool {
    guard hasValidChecksums(classID) else { return false }
    for index in entries.indices {
      // The metadata row has no checksum.
      let hasChecksum = entries[index].rowID > ClassMetadata.rowID
      entries[index].end -= hasChecksum ? UInt32(RecordChecksum.byteCount) : 0
    }
    return true
  }

  private func hasValidChecksums(_ classID: UInt8) -> Bool {
    let span = bytes.span
    return entries.allSatisfy { rowID, start, end in
      rowID == ClassMetadata.rowID
        || RecordChecksum.isValid(
          span.extracting(Int(start)..<Int(end)), classID: classID, rowID: rowID)
    }
  }
}

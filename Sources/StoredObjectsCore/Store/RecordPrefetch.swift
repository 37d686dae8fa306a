import Locks
import StoreEngine

/// Reads batch after batch on a thread of its own, while the records before are made into objects.
///
/// The thread copies bytes out of the files, and compares their checksums. When it is ahead it
/// makes the objects, too, if their class allows it.
final class RecordPrefetch {
  /// What one reading has given.
  struct Reading: Sendable {
    var batch = RecordBatch(limits: .large)
    /// The objects of the records, unless they are still to be made.
    var objects: MadeObjects?
    /// Whether no checksum is left to compare: all were found right, and are cut off.
    var isVerified = false
    /// How many commits the table had seen before.
    var commitCount: UInt64 = 0
    var end: Result<ScanEnd, any Error> = .success(.finished)
  }

  private let readings = Channel<Reading>(capacity: 2)
  private var thread: JoinedThread?

  /// What is read, and how.
  struct Source: Sendable {
    let backend: any StoreBackend
    let table: TableID
    let shared: SharedTable
    /// The class whose checksums the records have; nil when they have none.
    let checksumClassID: UInt8?
    /// Makes objects of records; nil when only the store can.
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

  /// Makes the objects of a reading, and gives up for good where that can't be done here.
  private static func makeObjects(_ reading: inout Reading, _ maker: inout ObjectMaker?) {
    reading.objects = reading.isVerified ? maker?.objects(of: &reading.batch) : nil
    if reading.objects == nil { maker = nil }
  }

  /// Starts to read behind a position; nil when there is no thread to be had.
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
    // Waits for the thread, so that the backend is not held any longer.
    thread = nil
  }

  /// The next reading; nil behind one that was not paused.
  func next() -> Reading? { readings.take() }
}

extension RecordBatch {
  /// Compares the checksums of all records, and cuts them off if they are right.
  ///
  /// - Returns: false when one is wrong; nothing has changed then.
  mutating func verifyChecksums(classID: UInt8) -> Bool {
    guard hasValidChecksums(classID) else { return false }
    for index in entries.indices {
      // The metadata row has none.
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

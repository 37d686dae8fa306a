import StoreEngine

/// Makes objects of records far from their store, on the thread that reads ahead.
///
/// They know neither their class's entry nor their row: the store gives them both, when their turn
/// comes.
struct ObjectMaker: Sendable {
  private let type: StoredObject.Type
  private let format: RecordFormat
  /// The versions of the class that records were written with which it reads itself.
  private let versions: [UInt8: UInt8]

  /// Nil for a class that does not allow it, or whose objects are in memory, most of them.
  init?(_ entry: RegisteredClass) {
    guard entry.type.isCodedOnAnyThread, entry.livingCount < entry.shared.lastRowID / 2 else {
      return nil
    }
    type = entry.type
    format = RecordFormat(entry)
    versions = entry.layouts.directNumbers
  }

  /// The objects of all records of a batch; nil when there is one that the store must look at.
  ///
  /// Their checksums must be right, and cut off.
  func objects(of batch: inout RecordBatch) -> MadeObjects? {
    var buffer = DataBuffer()
    buffer.swapBytes(&batch.bytes)
    defer { buffer.swapBytes(&batch.bytes) }
    var objects: [StoredObject?] = []
    objects.reserveCapacity(batch.entries.count)
    for record in batch.entries {
      guard let object = object(at: record, &buffer) else { return nil }
      objects.append(object)
    }
    return MadeObjects(objects)
  }

  // Nil stands for whatever is not as usual. The store finds it again, and knows what to do.
  @inline(__always)
  private func object(at record: RecordBatch.Entry, _ buffer: inout DataBuffer)
    -> StoredObject?
  {
    guard record.rowID > ClassMetadata.rowID else { return nil }
    guard buffer.showWindow(Int(record.start), Int(record.end)) else { return nil }
    let object = type.init()
    object.state = .loading
    do {
      if format.versionsRecords {
        guard let version = classVersion(try buffer.readUInt8()) else { return nil }
        buffer.version = version
      }
      try object.readContent(from: &buffer)
    } catch {
      return nil
    }
    object.state = .hasContent
    return buffer.remainingCount == 0 ? object : nil
  }

  /// The version of the class that has written a record; nil for one that has to be converted.
  @inline(__always)
  private func classVersion(_ number: UInt8) -> UInt8? {
    number == format.version ? format.classVersion : versions[number]
  }
}

/// Objects on their way from the thread that has made them to the one that has their store.
///
/// `@unchecked Sendable`: the maker keeps none, and only one thread at a time has this value: it
/// is put into a queue once, and taken out once.
struct MadeObjects: @unchecked Sendable {
  private var objects: [StoredObject?]

  fileprivate init(_ objects: [StoredObject?]) { self.objects = objects }

  /// Gives away the object of a record.
  @inline(__always)
  mutating func take(_ index: Int) -> StoredObject? {
    defer { objects[index] = nil }
    return objects[index]
  }
}

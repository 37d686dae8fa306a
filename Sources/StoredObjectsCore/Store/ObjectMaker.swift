import StoreEngine

/// Makes objects from records without their store, on the thread that reads ahead.
///
/// The objects know neither their class's registration nor their row. The store sets both when it
/// returns them.
struct ObjectMaker: Sendable {
  private let type: StoredObject.Type
  private let format: RecordFormat
  /// The class versions that the class reads directly, by the first byte of a record.
  private let versions: [UInt8: UInt8]

  /// Returns nil if the class does not allow it, or if most of its objects are already in memory.
  init?(_ entry: RegisteredClass) {
    guard entry.type.isCodedOnAnyThread, entry.livingCount < entry.shared.lastRowID / 2 else {
      return nil
    }
    type = entry.type
    format = RecordFormat(entry)
    versions = entry.layouts.directNumbers
  }

  /// Returns the objects of all records of a batch; nil if the store has to handle a record itself.
  ///
  /// The records' checksums must have been verified and removed.
  func objects(of batch: inout RecordBatch) -> MadeObjects? {
    var buffer = DataBuffer()
    buffer.swapBytes(&batch.bytes)
    defer { buffer.swapBytes(&batch.bytes) }
    var objects: [StoredObject?] = []
    objects.reserveCapacity(batch.entries.count)
    for record in batch.entries {
      guard let object = object(at: record, &buffer) else { return nil }
      objects.append(consume object)
    }
    return MadeObjects(objects)
  }

  // Returns nil for anything unusual. The store then handles the record itself.
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

  /// Returns the class version that wrote a record; nil for a record that has to be converted.
  @inline(__always)
  private func classVersion(_ number: UInt8) -> UInt8? {
    number == format.version ? format.classVersion : versions[number]
  }
}

/// Objects that are passed from the thread that made them to the thread of their store.
///
/// `@unchecked Sendable`: the maker keeps no reference to them, and only one thread at a time has
/// this value: it is put into a queue once, and taken out once.
struct MadeObjects: @unchecked Sendable {
  private var objects: [StoredObject?]

  fileprivate init(_ objects: [StoredObject?]) { self.objects = objects }

  /// Removes and returns the object of a record.
  @inline(__always)
  mutating func take(_ index: Int) -> StoredObject? {
    objects[index].take()
  }
}

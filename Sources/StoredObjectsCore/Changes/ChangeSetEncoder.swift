/// Turns the pending objects of a store into a change set, each encoded once into one buffer.
struct ChangeSetEncoder {
  private var buffer: DataBuffer
  private var tables: [ChangeSet.TableChanges] = []
  private var names: [ChangeSet.NameChange] = []

  init(store: Store) { buffer = DataBuffer([], store: store) }

  /// What has been encoded.
  ///
  /// The encoder is empty afterwards.
  mutating func changeSet() -> ChangeSet {
    let bytes = buffer.takeBytes()
    return ChangeSet(bytes: bytes, tables: tables, names: names)
  }

  /// Encodes the pending objects of one class.
  mutating func encode(_ entry: RegisteredClass) throws(StoreError) {
    var records: [ChangeSet.RecordChange] = []
    records.reserveCapacity(entry.pending.count + 1)
    let start = buffer.byteCount
    for object in entry.pending {
      guard let kind = object.state.change else { continue }
      if records.count == Self.sampleCount {
        buffer.reserveCapacity(
          start + (buffer.byteCount - start) / Self.sampleCount * entry.pending.count)
      }
      let range = kind == .delete ? 0..<0 : try encode(object, entry)
      records.append(.init(kind: kind, rowID: object.rowID, range: range))
    }
    tables.append(.init(table: entry.table, records: records))
  }

  /// From the size of so many records that of all is estimated, so that memory is taken once.
  private static let sampleCount = 4096

  private mutating func encode(
    _ object: StoredObject, _ entry: RegisteredClass
  ) throws(StoreError) -> Range<Int> {
    guard object.rowID > ClassMetadata.rowID else {
      throw StoreError(
        .rowIDsExhausted, "All 4,294,967,294 row IDs of the class are used.", at: entry.place())
    }
    let start = buffer.beginRecord()
    if entry.versionsRecords { buffer.write(entry.version) }
    do {
      try object.writeContent(to: &buffer)
      if let failure = buffer.failure { throw failure }
    } catch {
      throw .wrapping(error, .notEncodable, at: entry.place(object.rowID))
    }
    if entry.checksumsRecords {
      buffer.writeChecksum(classID: entry.classID, rowID: object.rowID)
    }
    guard buffer.byteCount - start <= UInt32.max else {
      throw StoreError(
        .notEncodable, "The record has 4 GiB or more.", at: entry.place(object.rowID))
    }
    return start..<buffer.byteCount
  }

  /// Encodes the named buffers, in order of their names.
  mutating func encode(names pending: [ExactName: [UInt8]?]) {
    for (name, bytes) in pending.sorted(by: { $0.key < $1.key }) {
      guard let bytes else {
        names.append(.init(name: name.text, range: nil))
        continue
      }
      let start = buffer.beginRecord()
      buffer.append(bytes)
      names.append(.init(name: name.text, range: start..<buffer.byteCount))
    }
  }

  /// Adds the metadata rows that have to change: of classes that were never saved, have new objects,
  /// or a new version.
  ///
  /// - Returns: what the classes' metadata will be once the change set is committed.
  mutating func appendMetadata(
    of classes: [RegisteredClass]
  ) -> [(RegisteredClass, ClassMetadata)] {
    var saved: [(RegisteredClass, ClassMetadata)] = []
    for (index, entry) in classes.enumerated() {
      let metadata = entry.nextMetadata()
      guard metadata != entry.shared.metadata else { continue }
      let start = buffer.beginRecord()
      metadata.write(to: &buffer)
      tables[index].records.append(
        .init(kind: .update, rowID: ClassMetadata.rowID, range: start..<buffer.byteCount))
      saved.append((entry, metadata))
    }
    return saved
  }
}

extension RegisteredClass {
  /// The metadata row as the next save should leave it.
  fileprivate func nextMetadata() -> ClassMetadata {
    var next =
      shared.metadata
      ?? ClassMetadata(
        classVersion: version, classID: classID, salt: .random(),
        flags: format)
    // A saved history speaks of rows that have no record, and brings them back.
    let isRemembered = store?.history?.bufferName != nil
    if changeCounts.inserts > 0 || isRemembered {
      next.lastRowID = shared.lastRowID
    }
    if changeCounts.inserts + changeCounts.updates > 0 {
      next.classVersion = max(next.classVersion, version)
    }
    return next
  }
}

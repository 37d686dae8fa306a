import StoreEngine

/// Encodes the pending objects of a store into a change set, each once, in a single buffer.
struct ChangeSetEncoder {
  private var buffer: DataBuffer
  private var tables: [ChangeSet.TableChanges] = []
  private var names: [ChangeSet.NameChange] = []

  init(store: Store) {
    buffer = DataBuffer([], store: store)
    tables.reserveCapacity(store.classes.count)
  }

  /// Returns everything encoded so far as a change set.
  ///
  /// The encoder is empty afterwards.
  mutating func changeSet() -> ChangeSet {
    let bytes = buffer.takeBytes()
    return ChangeSet(bytes: bytes, tables: tables, names: names)
  }

  /// Encodes the pending objects of one class.
  mutating func encode(_ entry: RegisteredClass) throws(StoreError) {
    if entry.pending.isEmpty { return tables.append(.init(table: entry.table, records: [])) }
    var records: [ChangeSet.RecordChange] = []
    records.reserveCapacity(entry.pending.count + 1)
    if buffer.byteCount == 0 {
      // Enough for a small object and the metadata row.
      buffer.reserveCapacity(Self.usualByteCount * min(entry.pending.count + 1, Self.sampleCount))
    }
    let start = buffer.byteCount
    let helper = EncodingThread.isWorthwhile(entry) ? EncodingThread(entry) : nil
    let pending = entry.pending
    // Lent, not copied one by one, which would count a reference to each.
    let objects = pending.span
    for index in 0..<(helper?.firstIndex ?? pending.count) {
      if records.count == Self.sampleCount {
        buffer.reserveCapacity(
          start + Self.estimatedByteCount(of: entry.pending.count, buffer.byteCount - start))
      }
      let object = unsafe Unmanaged.passUnretained(objects[index])
      let outcome = unsafe object._withUnsafeGuaranteedRef { object in
        Result { () throws(StoreError) in try encode(object, entry, &records) }
      }
      try outcome.get()
    }
    try take(from: helper, entry, &records)
    tables.append(.init(table: entry.table, records: records))
  }

  /// Appends the records that a thread has encoded, or encodes them if the thread could not.
  private mutating func take(
    from helper: EncodingThread?, _ entry: RegisteredClass,
    _ records: inout [ChangeSet.RecordChange]
  ) throws(StoreError) {
    guard let helper else { return }
    guard let part = helper.finish() else {
      for object in entry.pending[helper.firstIndex...] { try encode(object, entry, &records) }
      return
    }
    let start = buffer.beginRecord()
    buffer.append(part.bytes)
    records.append(contentsOf: part.records.lazy.map { $0.moved(by: start) })
  }

  /// The number of records whose size estimates the total, so that memory is allocated once.
  static let sampleCount = 4096

  /// Returns the estimated size of records, from the size of the first ``sampleCount``.
  ///
  /// Later ones are often longer, as numbers grow. Room that is not used takes no memory, and too
  /// little of it is doubled, which takes twice the memory and a copy.
  static func estimatedByteCount(of count: Int, _ sampleByteCount: Int) -> Int {
    sampleByteCount / sampleCount * count / 4 * 5
  }

  /// The estimated size of a record before that.
  private static let usualByteCount = 48

  @inline(__always)
  private mutating func encode(
    _ object: StoredObject, _ entry: RegisteredClass, _ records: inout [ChangeSet.RecordChange]
  ) throws(StoreError) {
    guard let kind = object.state.change else { return }
    let range = kind == .delete ? 0..<0 : try encode(object, entry)
    records.append(.init(kind: kind, rowID: object.rowID, range: range))
  }

  private mutating func encode(
    _ object: StoredObject, _ entry: RegisteredClass
  ) throws(StoreError) -> Range<Int> {
    guard object.rowID > ClassMetadata.rowID else {
      throw entry.shared.rowFailure
        ?? StoreError(
          .rowIDsExhausted, "All 4,294,967,294 row IDs of the class are used.", at: entry.location()
        )
    }
    let range: Range<Int>
    do {
      range = try buffer.writeRecord(of: object, RecordFormat(entry))
    } catch let error as DataBufferError where error.code == .deletedElsewhere {
      throw StoreError(
        .conflict,
        """
        \(error.message): remove the reference. keepConflictingChanges() does so, discardChanges() takes \
        back what is changed here.
        """, at: entry.location(object.rowID), underlying: error)
    } catch {
      throw .wrapping(error, .notEncodable, at: entry.location(object.rowID))
    }
    if range.count <= ChangeSet.maximumRecordByteCount { return range }
    throw ChangeSet.tooLarge(
      "The record", range.count, ChangeSet.maximumRecordByteCount, "maximumRecordByteCount",
      entry.location(object.rowID))
  }

  /// Encodes the named buffers, in order of their names.
  mutating func encode(names pending: PendingNames) {
    if pending.isEmpty { return }
    names.reserveCapacity(pending.count)
    pending.forEachInOrder { name, bytes in
      guard let bytes else {
        names.append(.init(name: name, range: nil))
        return
      }
      let start = buffer.beginRecord()
      buffer.append(copying: bytes)
      names.append(.init(name: name, range: start..<buffer.byteCount))
    }
  }

  /// Appends the layouts of the saved classes that are missing in the store.
  mutating func appendLayouts(of classes: [RegisteredClass]) {
    guard classes.contains(where: \.savesLayouts) else { return }
    for entry in classes where entry.savesLayouts {
      let start = buffer.beginRecord()
      buffer.append(LayoutFormat.sealed(entry.layouts.all, of: entry.name))
      let name = LayoutFormat.bufferName(of: entry.name)
      names.append(.init(name: name, range: start..<buffer.byteCount))
    }
    let order = ExactName.indicesInOrder(names.count) { names[$0].name }
    names = order.map { names[$0] }
  }

  /// Appends the metadata rows that have to change.
  ///
  /// These are the rows of classes that were never saved, have new objects, or have a new version.
  ///
  /// - Returns: The classes' metadata after the commit.
  mutating func appendMetadata(
    of classes: [RegisteredClass]
  ) -> [(RegisteredClass, ClassMetadata)] {
    var saved: [(RegisteredClass, ClassMetadata)] = []
    for (index, entry) in classes.enumerated() where !entry.keepsMetadata {
      let known = entry.shared.metadata
      let metadata = entry.nextMetadata(after: known)
      guard metadata != known else { continue }
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
  /// Whether the next save depends on what others write to the metadata row.
  ///
  /// This is so if the row is new, or if the save changes more of it than the last row ID.
  var changesMetadata: Bool {
    if keepsMetadata { return false }
    guard let known = shared.metadata, !savesLayouts else { return true }
    var next = nextMetadata(after: known)
    next.lastRowID = known.lastRowID
    return next != known
  }

  /// Whether the next save leaves the metadata row unchanged: nothing in the class has changed.
  fileprivate var keepsMetadata: Bool {
    changeCounts.isEmpty && shared.hasMetadata && !isRemembered
  }

  /// Whether a saved undo history may restore rows that have no record.
  private var isRemembered: Bool { store?.history?.bufferName != nil }

  /// Whether the next save writes layouts of the class.
  var savesLayouts: Bool {
    needsLayoutsSaved && changeCounts.inserts + changeCounts.updates > 0
  }

  /// Returns the metadata row as the next save should leave it.
  fileprivate func nextMetadata(after known: ClassMetadata?) -> ClassMetadata {
    var next =
      known
      ?? ClassMetadata(
        classVersion: version, classID: classID, salt: .random(),
        flags: format)
    if changeCounts.inserts > 0 || isRemembered {
      next.lastRowID = shared.lastRowID
    }
    if changeCounts.inserts + changeCounts.updates > 0 {
      next.classVersion = max(next.classVersion, version)
      if needsLayoutsSaved { next.flags?.insert(.layouts) }
    }
    return next
  }
}

import StoreEngine

extension Store {
  /// Returns the object of a row with its content; nil if there is no such object.
  ///
  /// Includes unsaved changes: an inserted object is found, a deleted one is not.
  ///
  /// Complexity: constant time; reads one record unless the object already has its content.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `damaged`, `newerVersion`,
  ///   `ioError` or `closed`.
  public func object<Object: StoredObject>(
    _ type: Object.Type, rowID: UInt32
  ) throws(StoreError) -> Object? {
    try object(try requireRegistration(of: type), rowID: rowID) as? Object
  }

  func object(
    _ entry: RegisteredClass, rowID: UInt32
  ) throws(StoreError) -> StoredObject? {
    if let living = entry.living(rowID) {
      if living.hasContent { lookUps.hits &+= 1 }
      return try fetchIfThere(living, entry)
    }
    // If other processes assign row IDs, the last one is not known here.
    let isUnknown = rowID > ClassMetadata.rowID && backend.coordinator.isShared
    guard entry.mayHave(rowID) || isUnknown else { return nil }
    return try withScratchBuffer { buffer throws(StoreError) in
      guard try readRecord(rowID, entry, into: &buffer) else { return nil }
      let object = entry.makeFault(rowID)
      try decode(object, entry, from: &buffer)
      return object
    }
  }

  private func fetchIfThere(
    _ object: StoredObject, _ entry: RegisteredClass
  ) throws(StoreError) -> StoredObject? {
    if object.state.contains(.deleted) { return nil }
    do {
      try object.fetchContent()
      return object
    } catch {
      if error.code == .recordMissing { return nil }
      throw error
    }
  }

  /// Returns the number of objects of a class, including unsaved changes.
  ///
  /// Reads no record.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `damaged`, `ioError` or `closed`.
  public func count<Object: StoredObject>(of type: Object.Type) throws(StoreError) -> Int {
    try count(of: try requireRegistration(of: type))
  }

  func count(of entry: RegisteredClass) throws(StoreError) -> Int {
    if !entry.pending.isEmpty { collectChangesElsewhere() }
    do {
      let rows = try backend.recordCount(in: entry.table)
      let saved = max(0, rows - (entry.shared.metadata == nil ? 0 : 1))
      // Objects that another store has deleted are no longer among the rows.
      let gone =
        entry.changeCounts.deletes > 0 && foreign.hasDeleted(entry.classID)
        ? entry.pending.count { $0.state.change == .delete && isDeletedElsewhere($0, entry) } : 0
      return saved + entry.changeCounts.inserts - entry.changeCounts.deletes + gone
        - insertedElsewhereCount(entry)
    } catch {
      throw .wrapping(error, .ioError, at: entry.location())
    }
  }

  /// Returns the number of unsaved new objects that other stores have saved: restored ones.
  private func insertedElsewhereCount(_ entry: RegisteredClass) -> Int {
    if entry.changeCounts.inserts == 0 || foreign.outdated.isEmpty { return 0 }
    return entry.pending.count {
      $0.state.change == .insert && isChangedElsewhere($0.rowID, entry) && exists($0.rowID, entry)
    }
  }

  /// Returns all objects of a class with their content, in order of their row IDs.
  ///
  /// This is the order of their insertion. Objects of subclasses are not included, see
  /// ``allObjects(of:includingSubclasses:)``.
  ///
  /// Includes unsaved changes.
  ///
  /// Complexity: linear in the number of objects. For classes that don't fit into memory, see
  /// ``cursor(over:)``.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `damaged`, `newerVersion`,
  ///   `ioError` or `closed`.
  @inlinable public func allObjects<Object: StoredObject>(
    of type: Object.Type
  ) throws(StoreError) -> [Object] {
    var objects: [Object] = []
    objects.reserveCapacity(try count(of: type))
    var cursor = try cursor(over: type, keepsObjects: true)
    var isSorted = true
    var last: UInt32 = 0
    while let object = try cursor.next() {
      if object.rowID < last { isSorted = false }
      last = object.rowID
      objects.append(consume object)
    }
    return isSorted ? objects : objects.sorted { $0.rowID < $1.rowID }
  }

  /// Visits the objects of a class, in no particular order.
  ///
  ///     try store.enumerate(Song.self) { song, stop in
  ///       if song.title == wanted { found = song; stop = true }
  ///     }
  ///
  /// Set `stop` to true to end the enumeration. The guarantees of ``ObjectCursor`` apply here.
  ///
  /// Complexity: linear in the number of objects.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as ``ObjectCursor/next()``, and any error that the
  ///   closure throws.
  @inlinable public func enumerate<Object: StoredObject>(
    _ type: Object.Type, _ body: (Object, _ stop: inout Bool) throws -> Void
  ) throws {
    var cursor = try cursor(over: type)
    var stop = false
    while !stop, let object = try cursor.next() { try body(object, &stop) }
  }

  /// Returns a cursor over the objects of a class, see ``ObjectCursor``.
  ///
  /// Complexity: constant time; iterating is linear in the number of objects.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`.
  public func cursor<Object: StoredObject>(
    over type: Object.Type
  ) throws(StoreError) -> ObjectCursor<Object> {
    try cursor(over: type, keepsObjects: false)
  }

  @usableFromInline func cursor<Object: StoredObject>(
    over type: Object.Type, keepsObjects: Bool
  ) throws(StoreError) -> ObjectCursor<Object> {
    ObjectCursor(RowCursor(self, try requireRegistration(of: type), keepsObjects: keepsObjects))
  }
}

// MARK: - Records into objects

extension Store {
  /// Reads the record of a fault.
  func readContent(of object: StoredObject, _ entry: RegisteredClass) throws(StoreError) {
    try withScratchBuffer { buffer throws(StoreError) in
      guard try readRecord(object.rowID, entry, into: &buffer) else {
        throw StoreError(
          .recordMissing,
          """
          A reference leads to this row, but it has no record: it was deleted, or the file is \
          damaged.
          """,
          at: entry.location(object.rowID))
      }
      try decode(object, entry, from: &buffer)
    }
  }

  private func readRecord(
    _ rowID: UInt32, _ entry: RegisteredClass, into buffer: inout DataBuffer
  ) throws(StoreError) -> Bool {
    forgetChangeElsewhere(rowID, entry)
    lookUps.misses &+= 1
    // A program that only reads reports nothing otherwise.
    if lookUps.misses == 4096 { tellLookUps() }
    do {
      if let ahead = entry.faultsAhead {
        return try ahead.read(rowID, entry, backend, into: &buffer)
      }
      return try buffer.fill(from: backend, rowID, in: entry.table)
    } catch {
      throw .wrapping(error, .ioError, at: entry.location(rowID))
    }
  }

  /// Decodes the content of an object from its record.
  ///
  /// After an error the object is still a fault. `isVerified` means that the record's checksum was
  /// already verified and removed.
  func decode(
    _ object: StoredObject, _ entry: RegisteredClass, from buffer: inout DataBuffer,
    isVerified: Bool = false
  ) throws(StoreError) {
    try setContent(of: object, entry, from: &buffer) { buffer in
      if entry.checksumsRecords, !isVerified {
        try buffer.verifyChecksum(classID: entry.classID, rowID: object.rowID)
      }
      if entry.versionsRecords { buffer.version = try buffer.readUInt8() }
    }
  }

  /// Sets the content of an object from the rest of a prepared buffer, in the buffer's version.
  ///
  /// After an error a fault is still a fault.
  @inline(__always)
  func setContent(
    of object: StoredObject, _ entry: RegisteredClass, from buffer: inout DataBuffer,
    preparing: (inout DataBuffer) throws -> Void
  ) throws(StoreError) {
    object.state.insert(.loading)
    defer { object.state.remove(.loading) }
    var isPrepared = false
    do {
      try preparing(&buffer)
      isPrepared = true
      if buffer.version == entry.version {
        buffer.version = entry.classVersion
        try object.readContent(from: &buffer)
      } else {
        try readEarlierContent(of: object, entry, from: &buffer)
      }
      guard buffer.remainingCount == 0 else { throw unreadBytes(buffer) }
    } catch {
      let error = StoreError.wrapping(error, .damaged, at: entry.location(object.rowID))
      throw isPrepared ? error.explained(buffer.version, entry) : error
    }
    object.state.insert(.hasContent)
  }

  func newerVersion(
    _ version: UInt8, _ rowID: UInt32, _ entry: RegisteredClass
  ) -> StoreError {
    StoreError(
      .newerVersion,
      """
      The record was written by version \(version) of the class, and this program has version \
      \(entry.version). Use a newer program.\(entry.unversionedHint)
      """,
      at: entry.location(rowID))
  }

  func unreadBytes(_ buffer: DataBuffer) -> DataBufferError {
    DataBufferError(
      .unreadBytes, at: buffer.offset,
      """
      \(buffer.remainingCount) bytes are left that a save would lose: readContent(from:) reads less \
      than was written; skipRemaining() drops the rest on purpose
      """)
  }

  /// Returns a buffer that reads one record out of many.
  ///
  /// You need not return it.
  func takeWindow(_ bytes: [UInt8], _ range: Range<Int>) -> DataBuffer {
    var buffer = DataBuffer([], store: self)
    buffer.window(range, of: bytes)
    return buffer
  }
}

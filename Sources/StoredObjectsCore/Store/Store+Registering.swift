import StoreEngine

extension Store {
  /// Makes classes known, in the order of their class IDs.
  ///
  /// The first class gets the ID 0, the next one 1. References of unknown class hold these numbers,
  /// so the order is part of the data: always register the same classes in the same order, and add
  /// new ones at the end. A store that was written in another order is refused.
  ///
  ///     try store.register(Song.self, Playlist.self)
  ///
  /// When a class is refused, the ones before it stay registered.
  ///
  /// - Throws: ``StoreError`` with `registeredTwice`, `classOrder`, `tooManyClasses`,
  ///   `invalidName`, `damaged` (a metadata row that can't be read), `inUse`, `ioError` or
  ///   `closed`.
  public func register(_ types: StoredObject.Type...) throws(StoreError) {
    try register(types)
  }

  /// Makes classes known, in the order of the array, see the other `register`.
  ///
  /// - Throws: ``StoreError`` as that.
  public func register(_ types: [StoredObject.Type]) throws(StoreError) {
    let known = classes.count
    // What is registered before one is refused stays so.
    defer { learnRelationships(of: classes[known...]) }
    for type in types { try register(type) }
  }

  private func register(_ type: StoredObject.Type) throws(StoreError) {
    try checkIsUnregistered(of: type)
    guard classes.count < 255 else {
      throw StoreError(
        .tooManyClasses, "A store has at most 255 classes.", at: .init(className: type.storedName))
    }
    do {
      let table = try backend.table(named: type.storedName)
      let metadata = try savedMetadata(of: type, table)
      let shared = backend.coordinator.table(table)
      shared.learn(metadata)
      let layouts = try classLayouts(of: type, metadata, shared)
      let entry = RegisteredClass(
        type, classID: UInt8(classes.count), table: table, shared: shared, store: self,
        layouts: layouts, indexes: try registeredIndexes(of: type, layouts),
        fullText: try registeredText(of: type, layouts))
      try verifyAssumedLayouts(of: entry)
      enroll(entry)
    } catch {
      throw .wrapping(error, .ioError, at: location(of: type))
    }
  }

  private func location(of type: StoredObject.Type, row: UInt32? = nil) -> StoreError.Location {
    .init(path: backend.location, className: type.storedName, rowID: row)
  }

  private func checkIsUnregistered(of type: StoredObject.Type) throws(StoreError) {
    guard let other = classes.first(where: { $0.name == type.storedName }) else { return }
    let message =
      other.type == type
      ? "\(type) is registered already, as class \(other.classID)."
      : """
      \(String(reflecting: type)) and \(String(reflecting: other.type)) would both be stored as \
      "\(other.name)". Override storedName in one of them.
      """
    throw StoreError(.registeredTwice, message, at: location(of: type))
  }

  /// The metadata of a class that is in its place; nil for a new one.
  private func savedMetadata(
    of type: StoredObject.Type, _ table: TableID
  ) throws -> ClassMetadata? {
    var metadata = try readMetadata(of: type, table)
    if metadata == nil {
      let saved = try savedClassIDs()
      let hasRecords = try backend.recordCount(in: table) > 0
      if saved[type.storedName] == nil, !hasRecords {
        try checkClassIDIsFree(type, saved)
        return nil
      }
      // Another store may have saved the class between two looks.
      metadata = try readMetadata(of: type, table)
    }
    guard let metadata else {
      throw StoreError(
        .damaged,
        "There are records but no metadata row, so no row ID would be safe to give out.",
        at: location(of: type, row: ClassMetadata.rowID))
    }
    try checkOrder(type, metadata)
    return metadata
  }

  private func readMetadata(
    of type: StoredObject.Type, _ table: TableID
  ) throws -> ClassMetadata? {
    var buffer = DataBuffer([], store: self)
    guard try buffer.fill(from: backend, ClassMetadata.rowID, in: table) else { return nil }
    do {
      return try ClassMetadata(from: &buffer)
    } catch {
      throw StoreError.wrapping(error, .damaged, at: location(of: type, row: ClassMetadata.rowID))
    }
  }

  private func checkOrder(_ type: StoredObject.Type, _ metadata: ClassMetadata) throws {
    guard Int(metadata.classID) != classes.count else { return }
    var saved = try savedClassIDs()
    saved[type.storedName] = metadata.classID
    throw wrongOrder(
      "was saved as class \(metadata.classID) and is registered as class \(classes.count)", type,
      saved)
  }

  /// References of unknown class that were saved to another class must not lead to this one.
  private func checkClassIDIsFree(
    _ type: StoredObject.Type, _ saved: [String: UInt8]
  ) throws {
    guard let other = saved.first(where: { Int($0.value) == classes.count }) else { return }
    throw wrongOrder(
      "is new and registered as class \(classes.count), the place of \"\(other.key)\"", type,
      saved)
  }

  private func wrongOrder(
    _ what: String, _ type: StoredObject.Type, _ savedClassIDs: [String: UInt8]
  ) -> StoreError {
    let saved = savedClassIDs.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    let registered = (classes.map(\.name) + [type.storedName]).enumerated()
      .map { "\($0.offset) \($0.element)" }.joined(separator: ", ")
    return StoreError(
      .classOrder,
      """
      "\(type.storedName)" \(what). Saved order: \(saved). Registered order: \(registered). \
      Register the classes in the saved order, new ones last.
      """,
      at: location(of: type))
  }

  /// The places of the classes as the files have them.
  private func savedClassIDs() throws -> [String: UInt8] {
    var classIDs: [String: UInt8] = [:]
    for name in try backend.tableNames() {
      var buffer = DataBuffer()
      let table = try backend.table(named: name)
      guard
        try buffer.fill(from: backend, ClassMetadata.rowID, in: table),
        let metadata = try? ClassMetadata(from: &buffer)
      else { continue }
      classIDs[name] = metadata.classID
    }
    return classIDs
  }

  /// Another store on the backend may have saved first, and in another order.
  func checkClassOrder() throws(StoreError) {
    for entry in classes {
      guard let metadata = entry.shared.metadata, metadata.classID != entry.classID else {
        continue
      }
      throw StoreError(
        .classOrder,
        """
        Another store has saved "\(entry.name)" as class \(metadata.classID), and here it is \
        registered as class \(entry.classID). Register the same classes in the same order.
        """,
        at: entry.location())
    }
  }
}

import StoreEngine
import Synchronization

extension Store {
  /// Registers the classes of the program.
  ///
  ///     try store.register(Song.self, Playlist.self)
  ///
  /// Each class has a number in the store, its class ID, which references to objects of any class
  /// contain. The store keeps the IDs, so you can register classes in any order and leave out those
  /// that you don't use. A new class gets the lowest ID that no class has had, in the order of the
  /// arguments.
  ///
  /// Objects of classes that are not registered stay as they are. Reading an object that refers to
  /// one of them throws `notRegistered`.
  ///
  /// If a class is refused, the classes before it stay registered.
  ///
  /// Complexity: linear in the number of classes; each reads its metadata row and its layouts.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `registeredTwice`, `classOrder` (two classes have
  ///   the same class ID), `tooManyClasses`, `invalidName`, `damaged` (a metadata row can't be
  ///   read), `changedLayout`, `invalidLayout`, `unfinishedMigration`, `inUse`, `ioError` or
  ///   `closed`.
  public func register(_ types: StoredObject.Type...) throws(StoreError) {
    try register(types)
  }

  /// Registers the classes of an array; see the other `register`.
  ///
  /// Complexity: linear in the number of classes.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as the other `register`.
  public func register(_ types: [StoredObject.Type]) throws(StoreError) {
    try checkForUnfinishedMigration()
    var entries: [RegisteredClass] = []
    // The classes before a refused one stay registered.
    defer { learnRelationships(of: entries) }
    for type in types { entries.append(try register(type)) }
    try refuseInserts(of: entries)
  }

  /// Makes inserts fail in the store of a device without its `SyncClient`, which has the row IDs.
  private func refuseInserts(of entries: [RegisteredClass]) throws(StoreError) {
    let coordinator = backend.coordinator
    guard !backend.isReadOnly, !coordinator.leasesRows.load(ordering: .acquiring),
      try backend.isOfDevice()
    else { return }
    for entry in entries {
      let location = entry.location()
      entry.shared.useBlocks(size: 0) { _ throws(StoreError) in
        throw StoreError(
          .invalidArgument,
          "The store belongs to a device that synchronizes: open a SyncClient before the insert.",
          at: location)
      }
    }
  }

  private func register(_ type: StoredObject.Type) throws(StoreError) -> RegisteredClass {
    try checkIsUnregistered(of: type)
    do {
      let table = try backend.table(named: type.storedName)
      let metadata = try savedMetadata(of: type, table)
      let shared = backend.coordinator.table(table)
      shared.learn(metadata)
      let classID = try classID(of: type, metadata, table)
      let layouts = try classLayouts(of: type, metadata, shared)
      let entry = RegisteredClass(
        type, classID: classID, table: table, shared: shared, store: self, layouts: layouts,
        indexes: try registeredIndexes(of: type, layouts),
        fullText: try registeredText(of: type, layouts))
      try verifyAssumedLayouts(of: entry)
      enroll(entry)
      return entry
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

  /// Returns the metadata of a class; nil for a new class.
  private func savedMetadata(
    of type: StoredObject.Type, _ table: TableID
  ) throws(StoreError) -> ClassMetadata? {
    var metadata = try backend.classMetadata(of: type.storedName)
    if metadata == nil {
      if try backend.recordCount(in: table) == 0 { return nil }
      // Another store may have saved the class between the two reads.
      metadata = try backend.classMetadata(of: type.storedName)
    }
    guard let metadata else {
      throw StoreError(
        .damaged,
        "There are records but no metadata row, so no row ID would be safe to give out.",
        at: location(of: type, row: ClassMetadata.rowID))
    }
    return metadata
  }

  // MARK: Class IDs

  /// Returns the class ID of a class in the store, or reserves one for a new class.
  private func classID(
    of type: StoredObject.Type, _ metadata: ClassMetadata?, _ table: TableID
  ) throws(StoreError) -> UInt8 {
    guard let metadata else {
      return try backend.coordinator.isShared
        ? claimClassID(for: type, table) : reserveClassID(for: type, table)
    }
    if let other = registration(classID: metadata.classID) {
      throw StoreError(
        .classOrder,
        """
        The store has "\(type.storedName)" and "\(other.name)" as class \(metadata.classID). One of \
        them comes from another store: remove its file.
        """, at: location(of: type))
    }
    return metadata.classID
  }

  /// Saves a new class at once, so that no other process assigns its ID to another class.
  private func claimClassID(for type: StoredObject.Type, _ table: TableID) throws(StoreError)
    -> UInt8
  {
    try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      let shared = backend.coordinator.table(table)
      // Another process may have saved the class since it was last read.
      if let saved = try savedMetadata(of: type, table) {
        shared.setMetadata(saved)
        return try classID(of: type, saved, table)
      }
      // An ID reserved by a refused attempt may belong to another class by now.
      backend.coordinator.releaseClassID(for: table)
      let metadata = ClassMetadata(
        classVersion: type.classVersion, classID: try reserveClassID(for: type, table),
        salt: .random(), flags: recordFormat(shared))
      try backend.commit(ChangeSet(metadata, of: table))
      shared.setMetadata(metadata)
      return metadata.classID
    }
  }

  private func reserveClassID(for type: StoredObject.Type, _ table: TableID) throws(StoreError)
    -> UInt8
  {
    var taken = Set(try savedClassIDs().values)
    taken.formUnion(try backend.savedMigrations().retired.keys)
    if let classID = backend.coordinator.reserveClassID(for: table, besides: taken) {
      return classID
    }
    throw StoreError(.tooManyClasses, "A store has at most 255 classes.", at: location(of: type))
  }

  /// Returns the class IDs of all classes in the store by class name.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`: an ID that can't be read must not be
  ///   assigned again.
  func savedClassIDs() throws(StoreError) -> [String: UInt8] {
    var classIDs: [String: UInt8] = [:]
    for name in try backend.tableNames() {
      classIDs[name] = try backend.classMetadata(of: name)?.classID
    }
    return classIDs
  }
}

extension StoreBackend {
  /// Returns the metadata row of a class, registered or not; nil if there is none.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, and any error that the backend throws.
  package func classMetadata(of className: String) throws(StoreError) -> ClassMetadata? {
    var buffer = DataBuffer()
    let table = try table(named: className)
    guard try buffer.fill(from: self, ClassMetadata.rowID, in: table) else { return nil }
    do {
      return try ClassMetadata(from: &buffer)
    } catch {
      let location = StoreError.Location(
        path: location, className: className, rowID: ClassMetadata.rowID)
      throw StoreError.wrapping(error, .damaged, at: location)
    }
  }
}

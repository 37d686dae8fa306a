import StoreEngine

/// Records and named buffers as they are to be after a save; nil for one that is to be absent.
package struct RecordStates: Sendable {
  /// The records of each class, by row ID.
  package var records: [String: [UInt32: [UInt8]?]] = [:]
  /// The named buffers, without those of the store itself.
  package var buffers: [String: [UInt8]?] = [:]

  /// Creates states of nothing.
  package init() {}

  /// Whether there are none.
  package var isEmpty: Bool { records.isEmpty && buffers.isEmpty }

  /// Sets the state of a row.
  package mutating func set(_ record: [UInt8]?, _ className: String, _ rowID: UInt32) {
    records[className, default: [:]][rowID] = .some(record)
  }

  /// Returns the state of a row; nil if it has none here.
  package func record(_ className: String, _ rowID: UInt32) -> [UInt8]?? {
    records[className]?[rowID]
  }
}

extension Store {
  /// Edits objects so that the next save leaves these records.
  ///
  /// Delete rules don't run: the writer of the records has applied them.
  ///
  /// - Parameters:
  ///   - states: The records and buffers.
  ///   - keepsBases: Whether later merges need the content before the edit.
  /// - Returns: The states that ``add(_:to:)`` has to write as they are, because their class is not
  ///   registered, or is older than the record.
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`. Nothing has
  ///   changed then.
  package func setRecords(
    _ states: RecordStates, keepsBases: Bool = false
  ) throws(StoreError) -> RecordStates {
    var (step, rest) = (UndoStep(), RecordStates())
    for (name, rows) in states.records.sorted(by: { $0.key < $1.key }) {
      let entry = classes.first { $0.name == name }
      for (rowID, record) in rows.sorted(by: { $0.key < $1.key }) {
        if let entry, let image = try knownImage(of: record, rowID, entry) {
          step.note(ObjectKey(classID: entry.classID, rowID: rowID), image)
        } else {
          rest.set(record, name, rowID)
        }
      }
    }
    for (name, bytes) in states.buffers { step.names[ExactName(name)] = .some(bytes) }
    if keepsBases { for key in step.keys { try keepBase(of: key) } }
    _ = try apply(step)
    return rest
  }

  /// Returns the image of a record; nil if the class does not know its layout.
  private func knownImage(
    of record: [UInt8]?, _ rowID: UInt32, _ entry: RegisteredClass
  ) throws(StoreError) -> ObjectImage? {
    let image = try image(of: record, rowID, entry)
    guard case .content(let content) = image, entry.versionsRecords else { return image }
    return entry.layouts.all.contains { $0.number == content.version } ? image : nil
  }

  private func keepBase(of key: ObjectKey) throws(StoreError) {
    guard let entry = registration(classID: key.classID),
      let object = try object(entry, rowID: key.rowID)
    else { return }
    noteBase(of: object, entry)
  }

  /// Returns the image of a saved record.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`.
  func image(
    of record: [UInt8]?, _ rowID: UInt32, _ entry: RegisteredClass
  ) throws(StoreError) -> ObjectImage {
    guard let record else { return .absent }
    var buffer = DataBuffer(record)
    do {
      if entry.checksumsRecords {
        try buffer.verifyChecksum(classID: entry.classID, rowID: rowID)
      }
      let version = entry.versionsRecords ? try buffer.readUInt8() : 0
      let end = buffer.offset + buffer.remainingCount
      return .content(
        ContentImage(bytes: Array(buffer.bytes[buffer.offset..<end]), version: version))
    } catch { throw .wrapping(error, .damaged, at: entry.location(rowID)) }
  }
}

// MARK: - Saving

extension Store {
  /// Changes a commit that has been prepared, or refuses it.
  package typealias CommitHook =
    (inout ChangeSet, inout CommitRequest) throws(StoreError) -> Void

  /// Saves all changes, and what a closure adds, by one commit.
  ///
  /// The closure runs while no other store commits. It also runs if there is no other change.
  ///
  /// - Returns: The commit; nil if there was nothing to commit.
  /// - Throws: ``/StoreEngine/StoreError`` as ``saveChanges()``, or an error of the closure.
  @discardableResult
  package func saveChanges(adding hook: @escaping CommitHook) throws(StoreError) -> Commit? {
    guard hasUnsavedChanges else {
      return try backend.coordinator.whileCommitting { () throws(StoreError) in
        var (changes, request) = (ChangeSet(), CommitRequest(author: configuration.author))
        request.sender = inbox
        try hook(&changes, &request)
        return try backend.commit(changes, request)
      }
    }
    let known = lastCommit
    commitHook = hook
    defer { commitHook = nil }
    try saveChanges()
    return lastCommit == known ? nil : lastCommit
  }

  /// Adds records to a change set as they are, and empties the indexes of their classes.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `ioError` or `closed`.
  package func add(_ states: RecordStates, to changes: inout ChangeSet) throws(StoreError) {
    if states.records.isEmpty { return }
    let names = try backend.orderedTableNames()
    for (name, rows) in states.records.sorted(by: { $0.key < $1.key }) {
      let table = try backend.table(named: name)
      for (rowID, record) in rows.sorted(by: { $0.key < $1.key }) {
        changes.set(record, of: rowID, in: table)
      }
      for index in try indexTables(of: name, among: names) { changes.clear(index) }
      let text = textTableName(name)
      if names.contains(text) { changes.clear(try backend.orderedTable(text)) }
    }
  }
}

extension ChangeSet {
  /// Sets the record of a row, or removes it.
  package mutating func set(_ record: [UInt8]?, of rowID: UInt32, in table: TableID) {
    let range = take(record)
    let change = RecordChange(
      kind: range == nil ? .delete : .update, rowID: rowID, range: range ?? 0..<0)
    if let index = tables.firstIndex(where: { $0.table == table }) {
      tables[index].records.removeAll { $0.rowID == rowID }
      tables[index].records.append(change)
    } else {
      tables.append(TableChanges(table: table, records: [change]))
    }
  }
}

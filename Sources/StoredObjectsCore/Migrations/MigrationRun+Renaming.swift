import Files
import StoreEngine

extension MigrationRun {
  /// Moves the records of a class to the table of another name, in batches.
  ///
  /// What is left in the old table tells how far it has come. The metadata row goes last.
  func rename(_ oldName: String, to newName: String, in step: String) throws {
    let backend = store.backend
    let (old, new) = (try backend.table(named: oldName), try backend.table(named: newName))
    guard try backend.classMetadata(of: oldName) != nil else { return finish(step) }
    guard try state.renaming == step || backend.recordCount(in: new) == 0 else {
      throw StoreError(
        .invalidName,
        "\(oldName) can't get this name, because the store has a class of it. Retire one of them.",
        at: .init(path: backend.location, className: newName))
    }
    let total = try backend.recordCount(in: old) - 1
    let report = { [progress] done in
      progress(MigrationProgress(step: step, className: oldName, done: done, total: total))
    }
    var done = 0
    var batch = MovedRecords(old, new)
    _ = try backend.forEachRow(of: old) { rowID in
      guard rowID > ClassMetadata.rowID else { return }
      try batch.add(rowID, backend)
      done += 1
      guard batch.isFull else { return }
      state.renaming = step
      try commit(batch.take())
      report(done)
    }
    try batch.add(ClassMetadata.rowID, backend)
    var changes = batch.take()
    try renameLayouts(oldName, to: newName, &changes)
    for index in try backend.indexes(of: oldName) { changes.clear(index) }
    if state.keepsEarlierRecords {
      try backend.copyEarlierRecords(of: oldName, to: newName, commit)
      changes.clear(try backend.earlierRecords(of: oldName))
    }
    finish(step)
    try commit(changes)
    backend.coordinator.table(old).forget()
    backend.coordinator.table(new).forget()
    report(total)
  }

  /// Gives the layouts of the class its new name, and those of all classes that refer to it.
  private func renameLayouts(
    _ oldName: String, to newName: String, _ changes: inout ChangeSet
  ) throws {
    let backend = store.backend
    for name in try backend.bufferNames() where name.hasSuffix(InternalBuffers.layoutsSuffix) {
      let className = String(name.dropLast(InternalBuffers.layoutsSuffix.count))
      guard let sealed = try backend.sealedBuffer(named: name) else { continue }
      let saved = try LayoutFormat.read(sealed, of: className, in: backend.location)
      let isOwn = ExactName(className) == ExactName(oldName)
      let renamed = isOwn ? newName : className
      let bytes = LayoutFormat.sealed(
        saved.renaming(oldName, to: newName), of: renamed)
      if isOwn { changes.setBuffer(named: name, nil) }
      if isOwn || bytes != sealed {
        changes.setBuffer(named: LayoutFormat.bufferName(of: renamed), bytes)
      }
    }
  }
}

/// Records on their way from one table to another.
private struct MovedRecords {
  private let old: TableID
  private let new: TableID
  private var bytes: [UInt8] = []
  private var inserts: [ChangeSet.RecordChange] = []
  private var deletes: [ChangeSet.RecordChange] = []

  init(_ old: TableID, _ new: TableID) { (self.old, self.new) = (old, new) }

  /// Whether it is time for a commit.
  var isFull: Bool { bytes.count >= 4 << 20 || inserts.count >= 50_000 }

  mutating func add(_ rowID: UInt32, _ backend: any StoreBackend) throws {
    let start = bytes.count
    guard try backend.copyRecord(rowID, in: old, to: &bytes) else { return }
    inserts.append(.init(kind: .insert, rowID: rowID, range: start..<bytes.count))
    deletes.append(.init(kind: .delete, rowID: rowID, range: 0..<0))
  }

  /// Everything so far as a commit.
  mutating func take() -> ChangeSet {
    defer { self = MovedRecords(old, new) }
    return ChangeSet(
      bytes: bytes,
      tables: [.init(table: old, records: deletes), .init(table: new, records: inserts)])
  }
}

extension StoreBackend {
  /// Calls a closure with the rows that a table has now, in order; it may commit.
  fileprivate func forEachRow(
    of table: TableID, _ body: (UInt32) throws -> Void
  ) throws {
    var rows = RowSet()
    _ = try scan(table, from: nil) { rowID, _ in
      rows.insert(rowID)
      return .next
    }
    var last: UInt32 = 0
    while let row = rows.first(after: last) {
      try body(row)
      last = row
    }
  }
}

extension [SavedLayout] {
  /// The layouts with references to a class by its new name.
  fileprivate func renaming(_ oldName: String, to newName: String) -> [SavedLayout] {
    map { layout in
      let form: SavedLayout.Form =
        switch layout.form {
        case .values(let types): .values(types.map { $0.renaming(oldName, to: newName) })
        case .properties(let properties):
          .properties(
            properties.map { property in
              .init(
                name: property.name, type: property.type.renaming(oldName, to: newName),
                formerNames: property.formerNames)
            })
        }
      return SavedLayout(
        number: layout.number, classVersion: layout.classVersion, form: form,
        hasRecords: layout.hasRecords)
    }
  }
}

extension StoredType {
  /// The type with references to a class by its new name; no other type names a class.
  func renaming(_ oldName: String, to newName: String) -> StoredType {
    switch self {
    case .reference(oldName): .reference(newName)
    case .references(oldName): .references(newName)
    case .referenceSet(oldName): .referenceSet(newName)
    default: self
    }
  }
}

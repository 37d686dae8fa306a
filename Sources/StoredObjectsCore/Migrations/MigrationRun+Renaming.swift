import Files
import StoreEngine

extension MigrationRun {
  /// Moves the records of a class to the table of another name, in batches.
  ///
  /// The rows left in the old table show the progress. The metadata row is moved last.
  func rename(_ oldName: String, to newName: String, in step: String) throws {
    let backend = store.backend
    let (old, new) = (try backend.table(named: oldName), try backend.table(named: newName))
    guard try backend.classMetadata(of: oldName) != nil else { return finish(step) }
    guard try state.renaming == step || backend.recordCount(in: new) == 0 else {
      throw StoreError(
        .invalidName,
        """
        \(oldName) can't get this name, because another class of the store has it. Retire one of \
        them.
        """,
        at: .init(path: backend.location, className: newName))
    }
    let total = try backend.recordCount(in: old) - 1
    let report = { [progress] done in
      progress(MigrationProgress(step: step, className: oldName, done: done, total: total))
    }
    var done = 0
    var batch = MovedRecords(old, new)
    let keys = try movedKeys(of: oldName, to: newName)
    if state.renaming != step { try batch.clear(keys.map(\.new), backend) }
    _ = try backend.forEachRow(of: old) { rowID in
      guard rowID > ClassMetadata.rowID else { return }
      try batch.add(rowID, backend)
      done += 1
      guard batch.isFull else { return }
      state.renaming = step
      try commit(batch.take())
      report(done)
    }
    for (oldTable, newTable) in keys {
      while try !batch.addKeys(of: oldTable, to: newTable, backend) {
        state.renaming = step
        try commit(batch.take())
      }
    }
    try batch.add(ClassMetadata.rowID, backend)
    var changes = batch.take()
    try renameLayouts(oldName, to: newName, &changes)
    for (table, _) in keys { changes.clear(table) }
    finish(step)
    try commit(changes)
    backend.coordinator.table(old).forget()
    backend.coordinator.table(new).forget()
    report(total)
  }

  /// Returns the ordered tables of the class, and the tables that replace them.
  ///
  /// An index is used unchanged if its class has not changed; others are rebuilt when first needed.
  private func movedKeys(
    of oldName: String, to newName: String
  ) throws -> [(old: OrderedTableID, new: OrderedTableID)] {
    let backend = store.backend
    var names = try backend.indexNames(of: oldName)
    if state.keepsEarlierRecords { names.append(earlierRecordsName(of: oldName)) }
    return try names.map { name in
      let suffix = String(decoding: name.name.utf8.dropFirst(oldName.utf8.count), as: UTF8.self)
      let new = OrderedTableName(newName + suffix, kind: name.kind)
      return (try backend.orderedTable(name), try backend.orderedTable(new))
    }
  }

  /// Renames the layouts of the class, and updates all layouts with references to it.
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

/// Records and keys to move from the tables of one class to those of another.
private struct MovedRecords {
  private let old: TableID
  private let new: TableID
  private var changes = ChangeSet()
  private var inserts: [ChangeSet.RecordChange] = []
  private var deletes: [ChangeSet.RecordChange] = []

  init(_ old: TableID, _ new: TableID) { (self.old, self.new) = (old, new) }

  /// Whether the batch is large enough for a commit.
  var isFull: Bool { changes.bytes.count >= 4 << 20 || inserts.count >= 50_000 }

  mutating func add(_ rowID: UInt32, _ backend: any StoreBackend) throws {
    let start = changes.bytes.count
    guard try backend.copyRecord(rowID, in: old, to: &changes.bytes) else { return }
    inserts.append(.init(kind: .insert, rowID: rowID, range: start..<changes.bytes.count))
    deletes.append(.init(kind: .delete, rowID: rowID, range: 0..<0))
  }

  /// Clears the tables that already have keys.
  mutating func clear(_ tables: [OrderedTableID], _ backend: any StoreBackend) throws {
    for table in tables where try backend.keyCount(in: table, KeyRange()) > 0 {
      changes.clear(table)
    }
  }

  /// Adds keys until the batch is full; returns whether all keys have been added.
  ///
  /// The last key in the new table shows the progress of earlier commits. The old table keeps its
  /// keys.
  mutating func addKeys(
    of old: OrderedTableID, to new: OrderedTableID, _ backend: any StoreBackend
  ) throws -> Bool {
    var range = KeyRange()
    if !changes.ordered.contains(where: { $0.table == new && $0.clearsFirst }) {
      _ = try backend.scanKeys(of: new, KeyRange(), isReversed: true) { key, _ in
        range = KeyRange(after: [UInt8](copying: key))
        return .pause
      }
    }
    return try backend.scanKeys(of: old, range, isReversed: false) { key, value in
      changes.set([UInt8](copying: key), to: [UInt8](copying: value), in: new)
      return isFull ? .pause : .next
    }
  }

  /// Returns the batch as a change set, and starts a new one.
  mutating func take() -> ChangeSet {
    defer { self = MovedRecords(old, new) }
    changes.tables = [
      .init(table: old, records: deletes), .init(table: new, records: inserts),
    ]
    return changes
  }
}

extension StoreBackend {
  /// Calls a closure with the current rows of a table, in order; the closure may commit.
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
  /// Returns the layouts with references to a class under its new name.
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
  /// Returns the type with references to a class under its new name; no other type names a class.
  func renaming(_ oldName: String, to newName: String) -> StoredType {
    switch self {
    case .reference(oldName): .reference(newName)
    case .references(oldName): .references(newName)
    case .referenceSet(oldName): .referenceSet(newName)
    default: self
    }
  }
}

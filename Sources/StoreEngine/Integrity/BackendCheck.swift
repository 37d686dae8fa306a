import Files

/// A check of a backend that needs no classes, as the tool `stored-objects` runs it.
///
///     let check = try BackendCheck(backend).run()
///
/// For each class it reads the metadata row and all records. It checks that each row was given out,
/// that it occurs only once, that the count is right, and that the checksums are right where there
/// are any. The class IDs of all classes must be 0, 1, 2 and so on. For named buffers it checks
/// names and checksums. Use `Store.check(progress:)` for checks that need the classes.
public struct BackendCheck {
  private let backend: any StoreBackend
  private var report = StoreCheck()
  /// The rows of each table that could be read, and its metadata.
  package private(set) var tables: [String: CheckedTable] = [:]

  /// The state of a table that was read.
  package struct CheckedTable {
    /// The rows; nil if not all of them could be read.
    package var rows: RowSet?
    package var metadata: ClassMetadata?
    /// The rows with findings, which need not be decoded.
    package var damagedRows = RowSet()
  }

  /// Creates the check of a backend.
  public init(_ backend: any StoreBackend) { self.backend = backend }

  /// Runs the check.
  ///
  /// A problem becomes a finding and not an error. Saves of other stores on the backend wait
  /// meanwhile, and see no change.
  ///
  /// Complexity: linear in the size of all records. It needs memory for one bit per row, and for
  /// ``StoreBackend/inspect()``.
  ///
  /// - Parameter progress: Called with the progress of the check; must not save.
  /// - Returns: The report.
  /// - Throws: ``StoreError`` with `closed`, or `ioError` if the directory can't be read.
  public func run(progress: (IntegrityProgress) -> Void = { _ in }) throws(StoreError) -> StoreCheck
  {
    var check = self
    try backend.coordinator.whileCommitting { () throws(StoreError) in try check.walk(progress) }
    return check.report
  }

  /// Runs the check inside of ``StoreCoordinator/whileCommitting(_:)``.
  package mutating func walk(_ progress: (IntegrityProgress) -> Void) throws(StoreError) {
    let inspection = try backend.inspect()
    for finding in inspection.findings { report.add(finding) }
    report.tornTailByteCount = inspection.tornTailByteCount
    for name in inspection.tableNames.sorted() { try walk(name, progress) }
    checkClassIDs(unreadable: unreadableClasses(inspection))
    if inspection.hasReadableBuffers { try checkBuffers() }
    try countKeys()
    try checkExternals()
  }

  /// Returns the report so far; the check continues with an empty one.
  package mutating func takeReport() -> StoreCheck {
    defer { report = StoreCheck() }
    return report
  }
}

// MARK: - Classes

extension BackendCheck {
  private func location(_ name: String, _ rowID: UInt32? = nil) -> StoreError.Location {
    .init(path: backend.location, className: name, rowID: rowID)
  }

  /// Runs a part of the check, and turns its errors into findings, unless the backend is closed.
  private mutating func noting(
    _ kind: StoreFinding.Kind, at location: StoreError.Location,
    _ body: (inout BackendCheck) throws(StoreError) -> Void
  ) throws(StoreError) {
    do {
      try body(&self)
    } catch  where error.code == .closed {
      throw error
    } catch {
      report.add(StoreFinding(kind, error, at: location))
    }
  }

  private mutating func walk(
    _ name: String, _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) {
    try noting(.fileDamaged, at: location(name)) { (check) throws(StoreError) in
      let table = try check.backend.table(named: name)
      let total = try check.backend.recordCount(in: table)
      progress(IntegrityProgress(name, 0, of: total))
      let metadata = try check.metadata(name, table)
      var walk = TableWalk(check.backend, table)
      var damaged = RowSet()
      check.tables[name] = .init(rows: nil, metadata: metadata)
      var done = 0
      try walk.run { rowID, bytes, range in
        if !check.verify(rowID, bytes, range, name, metadata) { damaged.insert(rowID) }
        done += 1
        if done % 8192 == 0 { progress(IntegrityProgress(name, done, of: total)) }
      }
      for failure in walk.failures {
        check.report.add(StoreFinding(.recordDamaged, failure))
        if let rowID = failure.location.rowID { damaged.insert(rowID) }
      }
      check.tables[name] = .init(rows: walk.rows, metadata: metadata, damagedRows: damaged)
      check.finish(name, walk, total, metadata)
      progress(IntegrityProgress(name, done, of: total))
    }
  }

  private mutating func metadata(_ name: String, _ table: TableID) throws(StoreError)
    -> ClassMetadata?
  {
    var buffer = DataBuffer()
    guard try buffer.fill(from: backend, ClassMetadata.rowID, in: table) else { return nil }
    do {
      return try ClassMetadata(from: &buffer)
    } catch {
      report.add(
        .metadataDamaged,
        "\(error.message). Salvage the store: that makes a new metadata row from the records.",
        at: .init(
          path: backend.location, className: name, rowID: ClassMetadata.rowID,
          offset: error.offset))
      return nil
    }
  }

  /// Checks one record as far as possible without its class.
  private mutating func verify(
    _ rowID: UInt32, _ bytes: [UInt8], _ range: Range<Int>, _ name: String,
    _ metadata: ClassMetadata?
  ) -> Bool {
    if rowID == ClassMetadata.rowID { return true }
    guard rowID > 0, rowID <= metadata?.lastRowID ?? .max else {
      let last = metadata?.lastRowID ?? 0
      report.add(
        .rowOutOfRange, "The last row ID that was ever given out is \(last).",
        at: location(name, rowID))
      return false
    }
    guard let metadata else { return true }
    guard verifyChecksum(rowID, bytes, range, metadata) else {
      report.add(
        .checksum, "The checksum is wrong: the record is not what was saved in this row.",
        at: location(name, rowID))
      return false
    }
    return verifyVersion(rowID, bytes, range, name, metadata)
  }

  private func verifyChecksum(
    _ rowID: UInt32, _ bytes: [UInt8], _ range: Range<Int>, _ metadata: ClassMetadata
  ) -> Bool {
    guard metadata.flags?.contains(.checksums) == true else { return true }
    return RecordChecksum.isValid(
      bytes.span.extracting(range), classID: metadata.classID, rowID: rowID)
  }

  /// Checks the version byte of a record, if its class has version bytes.
  private mutating func verifyVersion(
    _ rowID: UInt32, _ bytes: [UInt8], _ range: Range<Int>, _ name: String,
    _ metadata: ClassMetadata
  ) -> Bool {
    guard let flags = metadata.flags, !flags.contains(.unversionedRecords) else { return true }
    guard !range.isEmpty else {
      report.add(
        .recordDamaged, "The record is empty, and should begin with the version of its class.",
        at: location(name, rowID))
      return false
    }
    let version = bytes[range.lowerBound]
    guard version > metadata.classVersion else { return true }
    report.add(
      .newerVersion,
      """
      The record has version \(version), and the class has never been saved in a later version \
      than \(metadata.classVersion).
      """,
      at: location(name, rowID))
    return false
  }

  private mutating func finish(
    _ name: String, _ walk: TableWalk, _ total: Int, _ metadata: ClassMetadata?
  ) {
    let hasRow = walk.rows.contains(ClassMetadata.rowID)
    if walk.count > 0, !hasRow {
      report.add(
        .metadataMissing,
        "There are records but no metadata row: salvage the store, which makes a new one.",
        at: location(name, ClassMetadata.rowID))
    }
    if walk.count != total || walk.repeatedCount > 0 {
      report.add(
        .countMismatch,
        """
        The backend counts \(total) records; \(walk.count) were found, and \(walk.repeatedCount) \
        rows twice. Salvage the store.
        """,
        at: location(name))
    }
    report.classes.append(
      .init(
        name: name, objectCount: walk.count - (hasRow ? 1 : 0),
        hasChecksums: metadata?.flags?.contains(.checksums) == true))
  }

  /// Returns the number of classes with unknown IDs.
  private func unreadableClasses(_ inspection: StoreInspection) -> Int {
    let damaged = Set(inspection.findings.compactMap(\.location.className))
    return tables.values.count { $0.metadata == nil }
      + damaged.count { tables[$0] == nil && $0 != "NamedBuffers" }
  }

  /// Checks that the class IDs have no repeats and, except for retired classes, no gaps.
  private mutating func checkClassIDs(unreadable: Int) {
    var names: [UInt8: String] = [:]
    for (name, table) in tables.sorted(by: { $0.key < $1.key }) {
      guard let classID = table.metadata?.classID else { continue }
      if let other = names[classID] {
        report.add(
          .classID,
          "\"\(name)\" and \"\(other)\" both have the class ID \(classID).", at: location(name))
      } else {
        names[classID] = name
      }
    }
    let retired = (try? backend.savedMigrations().retired) ?? [:]
    let gaps = (0..<(names.keys.max() ?? 0)).filter { names[$0] == nil && retired[$0] == nil }
    if gaps.count > unreadable { report.addGaps(gaps, at: .init(path: backend.location)) }
  }
}

extension StoreCheck {
  fileprivate mutating func addGaps(_ gaps: [UInt8], at location: StoreError.Location) {
    for gap in gaps {
      add(
        .classMissing,
        "No class has the ID \(gap), and there are later ones: a class file is gone or unreadable.",
        at: location)
    }
  }
}

// MARK: - Ordered tables

extension BackendCheck {
  /// Counts the keys of ordered tables, except those of damaged tables.
  ///
  /// The backend has inspected the tables already.
  private mutating func countKeys() throws(StoreError) {
    try noting(.fileDamaged, at: .init(path: backend.location)) { (check) throws(StoreError) in
      for name in try check.backend.orderedTableNames().sorted(by: { $0.fileName < $1.fileName }) {
        let table = try check.backend.orderedTable(name)
        guard let count = try? check.backend.keyCount(in: table, KeyRange()) else { continue }
        check.report.orderedTables.append(.init(name: name, keyCount: count))
      }
    }
  }
}

// MARK: - Named buffers and values outside of records

extension BackendCheck {
  private mutating func checkExternals() throws(StoreError) {
    try noting(.externalValue, at: .init(path: backend.location)) { (check) throws(StoreError) in
      var rows: [UInt8: RowSet] = [:]
      for table in check.tables.values {
        if let metadata = table.metadata { rows[metadata.classID] = table.rows }
      }
      var externals = ExternalCheck(check.backend, rows)
      defer {
        for finding in externals.findings { check.report.add(finding) }
        check.report.externalValues = externals.values
      }
      try externals.run()
    }
  }

  private mutating func checkBuffers() throws(StoreError) {
    let location = StoreError.Location(path: backend.location)
    try noting(.namedBuffer, at: location) { (check) throws(StoreError) in
      for name in try check.backend.bufferNames().sorted() {
        try check.noting(.namedBuffer, at: location) { (check) throws(StoreError) in
          try check.checkBuffer(name)
        }
      }
    }
  }

  private mutating func checkBuffer(_ name: String) throws(StoreError) {
    if !InternalBuffers.contain(name) { report.namedBufferCount += 1 }
    var bytes: [UInt8] = []
    let isThere = try backend.withNamedBuffer(name) {
      bytes.append(copying: $0)
      return true
    }
    let location = StoreError.Location(path: backend.location)
    if name.isEmpty {
      report.add(.namedBuffer, "A buffer has an empty name.", at: location)
    } else if isThere == nil {
      report.add(
        .namedBuffer,
        "The buffer \"\(name)\" is listed, but can't be found.", at: location)
    } else if NamedBufferChecksum.opened(bytes, name: name) == nil {
      report.add(
        .namedBuffer, "The checksum of the buffer \"\(name)\" is wrong: it is not what was saved.",
        at: location)
    }
  }
}

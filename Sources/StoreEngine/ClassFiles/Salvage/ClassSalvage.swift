import Files

/// The salvage of one class, which copies its records into a new file.
struct ClassSalvage<Format: ClassFileFormat> {
  let name: String
  private let format: Format
  /// Opens sealed records.
  private let seal: SalvageSeal.Table
  /// The old file.
  private let location: ClassFileLocation
  private(set) var metadata: ClassMetadata?
  private var hadMetadata = false
  /// The rows in the log, which take precedence over the file.
  private var logged: [UInt32: [UInt8]?] = [:]
  /// The rows in the new file.
  private var rows = RowSet()
  private var count = 0
  /// The rows of the old file that were identified.
  private var foundRows = RowSet()
  private var foundCount = 0
  private var lastRowID: UInt32 = 1
  private var lastVersion: UInt8 = 0
  /// A few records, for guessing a lost metadata row.
  private var samples: [(rowID: UInt32, bytes: [UInt8])] = []

  init(_ name: String, _ format: Format, seal: SalvageSeal.Table, source: ClassFileLocation) {
    (self.name, self.format, self.seal, location) = (name, format, seal, source)
  }

  var source: String { location.path }

  // MARK: Before writing

  /// Adds the changes of a save in the log to the class.
  mutating func take(_ changes: ChangeSet.TableChanges, _ bytes: [UInt8]) {
    for change in changes.records {
      let record = change.kind == .delete ? nil : Array(bytes[change.range])
      logged.updateValue(record, forKey: change.rowID)
    }
  }

  /// Reads the metadata row, which describes the form of the records.
  mutating func readMetadata() throws(StoreError) {
    if let row = logged[1] ?? nil { read(row) }
    if metadata != nil { return }
    guard var salvage = try? format.salvage(location) else { return }
    try salvage.run(isValid: nil) { key, value, _, isCertain in
      if Format.rowID(ofKey: key) == 1, isCertain || metadata == nil {
        read([UInt8](copying: value))
      }
    }
  }

  private mutating func read(_ stored: [UInt8]) {
    guard let row = seal.opened(1, stored) else { return }
    hadMetadata = true
    var buffer = DataBuffer(row)
    if let read = try? ClassMetadata(from: &buffer) { metadata = read }
  }

  // MARK: Writing

  /// Writes the new file; returns false, without a file, if there is no content.
  mutating func write(
    to new: NewClassFile, unused: [UInt8], _ report: inout SalvageReport
  ) throws(StoreError) -> Bool {
    let writer = try format.writer(new, sizedAs: location)
    do {
      try copyFile(to: writer, &report)
      for (rowID, record) in logged.sorted(by: { $0.key < $1.key }) where rowID > 1 {
        if let record, let plain = seal.opened(rowID, record) {
          try add(rowID, plain, stored: record, to: writer)
        }
      }
      guard count > 0 || hadMetadata else {
        writer.cancel()
        return false
      }
      let row = finalMetadata(unused, &report)
      var buffer = DataBuffer()
      row.write(to: &buffer)
      try seal.stored(1, buffer.bytes).lend { (bytes) throws(StoreError) in
        try writer.add(1, value: bytes)
      }
      try writer.finish()
      metadata = row
    } catch {
      writer.cancel()
      throw error
    }
    report.classes.append(.init(name: name, objectCount: count))
    return true
  }

  private mutating func copyFile(
    to writer: Format.Writer, _ report: inout SalvageReport
  ) throws(StoreError) {
    let found: Format.Salvage?
    do {
      found = try format.salvage(location)
    } catch { return report.lose(StoreFinding(.fileDamaged, error, at: location.errorLocation())) }
    guard var salvage = found else { return }
    let isIntact = isIntact
    if isIntact == nil, let unreadable = salvage.unreadable { return lose(unreadable, &report) }
    var isAnyDoubtful = false
    // Certain records come first: doubtful ones may be earlier versions of them.
    try salvage.run(isValid: isIntact) { (key, value, offset, isCertain) throws(StoreError) in
      if isCertain { try take(key, value, offset, isCertain, writer, &report) }
      isAnyDoubtful = isAnyDoubtful || !isCertain
    }
    if isAnyDoubtful {
      try salvage.run(isValid: isIntact) { (key, value, offset, isCertain) throws(StoreError) in
        if !isCertain { try take(key, value, offset, isCertain, writer, &report) }
      }
    }
    for damage in salvage.damage(foundCount: foundCount) { lose(damage, &report) }
  }

  private func lose(_ damage: ClassFileDamage, _ report: inout SalvageReport) {
    report.lose(damage.kind, damage.message, at: location.errorLocation(offset: damage.offset))
  }

  /// Returns whether a record is what was saved, by its checksum or seal; nil if it has neither.
  private var isIntact: ((_ key: RawSpan, _ value: RawSpan) -> Bool)? {
    guard let metadata else { return nil }
    let hasChecksum = metadata.flags?.contains(.checksums) == true
    guard hasChecksum || seal.isSealed else { return nil }
    return { [seal] key, value in
      guard let rowID = Format.rowID(ofKey: key), rowID > 0 else { return false }
      if rowID > 1, !seal.isSealed {
        return RecordChecksum.isValid(value, classID: metadata.classID, rowID: rowID)
      }
      guard let plain = seal.opened(rowID, [UInt8](copying: value)) else { return false }
      var buffer = DataBuffer(plain)
      if rowID == 1 { return (try? ClassMetadata(from: &buffer)) != nil }
      guard hasChecksum else { return true }
      return plain.lend { RecordChecksum.isValid($0, classID: metadata.classID, rowID: rowID) }
    }
  }

  private mutating func take(
    _ key: RawSpan, _ value: RawSpan, _ offset: Int, _ isCertain: Bool, _ writer: Format.Writer,
    _ report: inout SalvageReport
  ) throws(StoreError) {
    guard let rowID = Format.rowID(ofKey: key), rowID > 0 else {
      return report.lose(
        .recordDamaged, "A key of \(key.byteCount) bytes is not a row ID.",
        at: location.errorLocation(offset: offset))
    }
    let errorLocation = location.errorLocation(rowID: rowID, offset: offset)
    if rowID == 1 || logged[rowID] != nil {
      if rowID > 1 || hadMetadata { find(rowID) }
      return
    }
    if rows.contains(rowID) {
      if isCertain { report.lose(.countMismatch, "The row occurs twice.", at: errorLocation) }
      return
    }
    let stored = [UInt8](copying: value)
    guard let plain = seal.opened(rowID, stored) else {
      return report.lose(
        .notAuthentic, "The record was not sealed for this row: it is left out.", at: errorLocation)
    }
    guard isValid(rowID, plain) else {
      return report.lose(
        .checksum, "The checksum is wrong: the record is left out.", at: errorLocation)
    }
    if !isCertain {
      report.lose(
        .recordDamaged,
        "The record was found in a damaged part of the file: it is copied, but may be out of date.",
        at: errorLocation)
    }
    find(rowID)
    try add(rowID, plain, stored: stored, to: writer)
  }

  private mutating func find(_ rowID: UInt32) { if foundRows.insert(rowID) { foundCount += 1 } }

  private func isValid(_ rowID: UInt32, _ record: [UInt8]) -> Bool {
    guard let metadata, metadata.flags?.contains(.checksums) == true else { return true }
    return record.lend { RecordChecksum.isValid($0, classID: metadata.classID, rowID: rowID) }
  }

  private mutating func add(
    _ rowID: UInt32, _ record: [UInt8], stored: [UInt8], to writer: Format.Writer
  ) throws(StoreError) {
    rows.insert(rowID)
    count += 1
    lastRowID = max(lastRowID, rowID)
    lastVersion = max(lastVersion, record.first ?? 0)
    if samples.count < 16 { samples.append((rowID, record)) }
    try stored.lend { (bytes) throws(StoreError) in try writer.add(rowID, value: bytes) }
  }

  // MARK: The metadata row

  private func finalMetadata(
    _ unused: [UInt8], _ report: inout SalvageReport
  ) -> ClassMetadata {
    var row = metadata ?? guessedMetadata(unused, &report)
    if row.lastRowID < lastRowID {
      report.lose(
        .metadataDamaged,
        """
        The last row ID was \(row.lastRowID), lower than those of records: it is \(lastRowID) now.
        """,
        at: location.errorLocation(rowID: 1))
      row.lastRowID = lastRowID
    }
    return row
  }

  private func guessedMetadata(
    _ unused: [UInt8], _ report: inout SalvageReport
  ) -> ClassMetadata {
    let (metadata, isProven) = ClassMetadata.guessed(
      lastRowID: lastRowID, classVersion: lastVersion, samples: samples, unused: unused)
    let certainty =
      isProven ? "is proven by checksums" : "is a guess: check the order of classes"
    report.lose(
      .metadataDamaged,
      """
      The metadata row is lost, and was rebuilt from the records. The class ID \(metadata.classID) \
      \(certainty). The last row ID may be too low, if the last objects had been deleted.
      """,
      at: location.errorLocation(rowID: 1))
    return metadata
  }
}

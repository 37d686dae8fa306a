import CDB
import Files
import StoreEngine

/// Brings the records of one class over into a new file.
struct ClassSalvage {
  let name: String
  /// Opens what is sealed.
  private let seal: SalvageSeal.Table
  /// The old file.
  private let file: FilePlace
  var source: String { file.path }
  private(set) var metadata: ClassMetadata?
  /// What the log says of rows; it goes before the file.
  private var logged: [UInt32: [UInt8]?] = [:]
  private var rows = RowSet()
  private var count = 0
  private var lastRowID: UInt32 = 1
  private var lastVersion: UInt8 = 0
  /// A few records, to guess from when the metadata row is lost.
  private var samples: [(rowID: UInt32, bytes: [UInt8])] = []

  init(_ name: String, seal: SalvageSeal.Table, source: FilePlace) {
    self.name = name
    self.seal = seal
    file = source
  }

  private func place(_ rowID: UInt32? = nil, _ offset: Int? = nil) -> StoreError.Place {
    .init(path: source, className: name, rowID: rowID, offset: offset)
  }

  private func hasFile() throws -> Bool { try systemErrors(at: source) { try exists(file) } }

  // MARK: Before writing

  /// Takes what a save in the log has done to the class.
  mutating func take(_ changes: ChangeSet.TableChanges, _ bytes: [UInt8]) {
    for change in changes.records {
      let record = change.kind == .delete ? nil : Array(bytes[change.range])
      logged.updateValue(record, forKey: change.rowID)
    }
  }

  /// Reads the metadata row, which says what the records are like.
  mutating func readMetadata() throws {
    if case .some(.some(let row)) = logged[1], let read = parsed(row) {
      metadata = read
      return
    }
    guard try hasFile() else { return }
    var found: (metadata: ClassMetadata, isCertain: Bool)?
    var salvage = try cdbErrors(className: name) { try CDBSalvage(file) }
    try salvage.run { record in
      guard Self.rowID(record.key) == 1, let read = parsed(record.value) else { return }
      if found == nil || record.isCertain && found?.isCertain == false {
        found = (read, record.isCertain)
      }
    }
    metadata = found?.metadata
  }

  private func parsed(_ stored: [UInt8]) -> ClassMetadata? {
    guard let row = seal.opened(1, stored) else { return nil }
    var buffer = DataBuffer(row)
    return try? ClassMetadata(from: &buffer)
  }

  private static func rowID(_ key: [UInt8]) -> UInt32? { key.lend { RowKey.rowID($0) } }

  // MARK: Writing

  /// Writes the new file; false, and no file, when there is nothing to make a class of.
  mutating func write(
    to place: FilePlace, unused: [UInt8], _ report: inout SalvageReport
  ) throws -> Bool {
    let writer = try cdbErrors(className: name) {
      try CDBWriter(place, format: .classic, rights: .ownerOnly)
    }
    try copyFile(to: writer, &report)
    for (rowID, record) in logged.sorted(by: { $0.key < $1.key }) where rowID > 1 {
      if let record, let plain = seal.opened(rowID, record) {
        try add(rowID, plain, stored: record, to: writer)
      }
    }
    guard count > 0 || metadata != nil else { return false }
    let row = finalMetadata(unused, &report)
    var buffer = DataBuffer()
    row.write(to: &buffer)
    let bytes = try seal.stored(1, buffer.bytes)
    try cdbErrors(className: name) {
      try RowKey.lend(1) { key in try bytes.lend { _ = try writer.add($0, forKey: key) } }
      try writer.finish()
    }
    report.classes.append(.init(name: name, objectCount: count))
    metadata = row
    return true
  }

  private mutating func copyFile(to writer: CDBWriter, _ report: inout SalvageReport) throws {
    guard try hasFile() else { return }
    var salvage: CDBSalvage
    do {
      salvage = try CDBSalvage(file)
    } catch { return report.lose(StoreFinding(.fileDamaged, error, at: place())) }
    // First what is certain: what is doubtful may be an earlier form of it.
    try salvage.run { if $0.isCertain { try take($0, writer, &report) } }
    try salvage.run { if !$0.isCertain { try take($0, writer, &report) } }
    tellGaps(salvage, &report)
  }

  private mutating func take(
    _ record: CDBSalvage.Record, _ writer: CDBWriter, _ report: inout SalvageReport
  ) throws {
    guard let rowID = Self.rowID(record.key), rowID > 0 else {
      return report.lose(
        .recordDamaged, "A key of \(record.key.count) bytes is no row ID.",
        at: place(nil, record.offset))
    }
    if rowID == 1 || logged[rowID] != nil { return }
    if rows.contains(rowID) {
      if !record.isCertain { return }
      return report.lose(.countMismatch, "The row comes twice.", at: place(rowID, record.offset))
    }
    guard let plain = seal.opened(rowID, record.value) else {
      return report.lose(
        .notAuthentic, "This was not sealed for this row: it is left out.",
        at: place(rowID, record.offset))
    }
    guard isValid(rowID, plain) else {
      return report.lose(
        .checksum, "The checksum is wrong: the record is left out.", at: place(rowID, record.offset)
      )
    }
    if !record.isCertain {
      report.lose(
        .recordDamaged, "Brought over, but doubtful: the file's index does not lead to it.",
        at: place(rowID, record.offset))
    }
    try add(rowID, plain, stored: record.value, to: writer)
  }

  private func isValid(_ rowID: UInt32, _ record: [UInt8]) -> Bool {
    guard let metadata, metadata.flags?.contains(.checksums) == true else { return true }
    return record.lend { RecordChecksum.isValid($0, classID: metadata.classID, rowID: rowID) }
  }

  private mutating func add(
    _ rowID: UInt32, _ record: [UInt8], stored: [UInt8], to writer: CDBWriter
  ) throws {
    rows.insert(rowID)
    count += 1
    lastRowID = max(lastRowID, rowID)
    lastVersion = max(lastVersion, record.first ?? 0)
    if samples.count < 16 { samples.append((rowID, record)) }
    try cdbErrors(className: name) {
      try RowKey.lend(rowID) { key in
        try stored.lend { _ = try writer.add($0, forKey: key) }
      }
    }
  }

  private func tellGaps(_ salvage: CDBSalvage, _ report: inout SalvageReport) {
    if !salvage.hasTables {
      report.lose(
        .fileDamaged, "The file's index is gone: records at its end may be missing.", at: place())
    }
    if salvage.missingCount > 0 {
      report.lose(
        .countMismatch, "\(salvage.missingCount) records were not found where they should be.",
        at: place())
    }
    for gap in salvage.gaps {
      report.lose(
        .fileDamaged, "\(gap.count) bytes of the file are unreadable.",
        at: place(nil, gap.lowerBound))
    }
  }

  private func finalMetadata(
    _ unused: [UInt8], _ report: inout SalvageReport
  ) -> ClassMetadata {
    guard var row = metadata else { return guessedMetadata(unused, &report) }
    if row.lastRowID < lastRowID {
      report.lose(
        .metadataDamaged,
        "The last row ID was \(row.lastRowID), below that of records: it is \(lastRowID) now.",
        at: place(1))
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
      The metadata row is lost, and was made anew from the records. The class ID \
      \(metadata.classID) \(certainty). The last row ID may be too low, if the last objects had \
      been deleted.
      """,
      at: place(1))
    return metadata
  }
}

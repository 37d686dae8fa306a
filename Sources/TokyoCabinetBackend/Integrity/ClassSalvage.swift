import Files
import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

/// Brings the records of one class over into a new file.
struct ClassSalvage {
  let name: String
  /// Opens what is sealed.
  private let seal: SalvageSeal.Table
  /// The old file.
  private let place: FilePlace
  var source: String { place.path }
  private let target: HashDatabase
  private var metadata: ClassMetadata?
  private var hadMetadata = false
  private var rows = RowSet()
  /// Those of them that may be out of date.
  private var doubtful: Set<UInt32> = []
  private var lastRowID: UInt32 = 1
  private var lastVersion: UInt8 = 0
  /// A few records, to guess from when the metadata row is lost.
  private var samples: [(rowID: UInt32, bytes: [UInt8])] = []

  init(
    _ name: String, seal: SalvageSeal.Table, source: FilePlace, target: FilePlace
  ) throws {
    self.name = name
    self.seal = seal
    place = source
    let tuning = try Self.tuning(for: source)
    self.target = try storeErrors(at: target.path) {
      try HashDatabase(
        path: target.libraryPath, mode: .readWrite([.create, .truncate]), tuning: tuning)
    }
  }

  /// A layout for the records of another file, and for those of a log on top.
  private static func tuning(for source: FilePlace) throws -> Tuning {
    let file = try storeErrors(at: source.path) {
      try exists(source) ? HashFileSalvage(source) : nil
    }
    guard let file else { return Tuning(alignmentPower: 2) }
    let count = min(file.expectedCount ?? 0, file.size / 16)
    return Tuning(
      bucketCount: Tuning.bucketCount(forExpectedRecords: count), alignmentPower: 2,
      // 32 bits reach as far as 16 GiB.
      options: file.size > 4 << 30 ? .large : [])
  }

  private func position(_ rowID: UInt32? = nil, _ offset: Int? = nil) -> StoreError.Place {
    .init(path: source, className: name, rowID: rowID, offset: offset)
  }

  // MARK: The class file

  /// Copies what can be found in the old file.
  mutating func copyFile(_ report: inout SalvageReport) throws {
    let found = try storeErrors(at: source) { try exists(place) ? HashFileSalvage(place) : nil }
    guard var salvage = found else { return }
    // First the metadata row, which says what the records are like.
    try salvage.run { key, value, record in
      if rowID(ofKey: key) == 1, record.isCertain || metadata == nil {
        read([UInt8](copying: value))
      }
    }
    let isIntact = isIntact
    guard !salvage.isUnsupported || isIntact != nil else {
      return report.lose(
        .fileDamaged, "The values are compressed, which only the C library can undo.",
        at: position())
    }
    try salvage.run(isValid: isIntact) { try take($0, $1, $2, &report) }
    try tellGaps(salvage, &report)
  }

  /// Tells whether a record is what was saved, by its checksum or its seal; nil when it has
  /// neither.
  private var isIntact: ((_ key: RawSpan, _ value: RawSpan) -> Bool)? {
    guard let metadata else { return nil }
    let hasChecksum = metadata.flags?.contains(.checksums) == true
    guard hasChecksum || seal.isSealed else { return nil }
    return { [seal] key, value in
      guard let rowID = rowID(ofKey: key), rowID > 0 else { return false }
      if rowID > 1, !seal.isSealed {
        return RecordChecksum.isValid(value, classID: metadata.classID, rowID: rowID)
      }
      guard let plain = seal.opened(rowID, [UInt8](copying: value)) else { return false }
      var buffer = DataBuffer(plain)
      if rowID == 1 { return (try? ClassMetadata(from: &buffer)) != nil }
      guard hasChecksum else { return true }
      return plain.lend {
        RecordChecksum.isValid($0, classID: metadata.classID, rowID: rowID)
      }
    }
  }

  private mutating func read(_ stored: [UInt8]) {
    guard let row = seal.opened(1, stored) else { return }
    hadMetadata = true
    var buffer = DataBuffer(row)
    if let read = try? ClassMetadata(from: &buffer) { metadata = read }
  }

  private mutating func take(
    _ key: RawSpan, _ value: RawSpan, _ record: HashFileSalvage.Record,
    _ report: inout SalvageReport
  ) throws {
    guard let rowID = rowID(ofKey: key), rowID > 0 else {
      return report.lose(
        .recordDamaged, "A key of \(key.byteCount) bytes is no row ID.",
        at: position(nil, record.offset))
    }
    if rowID == 1 { return }
    if rows.contains(rowID), !(record.isCertain && doubtful.contains(rowID)) {
      if record.isCertain {
        report.lose(.countMismatch, "The row comes twice.", at: position(rowID))
      }
      return
    }
    let bytes = [UInt8](copying: value)
    guard let plain = seal.opened(rowID, bytes) else {
      return report.lose(
        .notAuthentic, "This was not sealed for this row: it is left out.",
        at: position(rowID, record.offset))
    }
    guard isValid(rowID, plain) else {
      return report.lose(
        .checksum, "The checksum is wrong: the record is left out.",
        at: position(rowID, record.offset)
      )
    }
    if record.isCertain {
      doubtful.remove(rowID)
    } else {
      doubtful.insert(rowID)
      report.lose(
        .recordDamaged,
        "Brought over, but doubtful: found inside a damaged part, it may be out of date.",
        at: position(rowID, record.offset))
    }
    try put(rowID, plain, stored: bytes)
  }

  private func isValid(_ rowID: UInt32, _ record: [UInt8]) -> Bool {
    guard let metadata, metadata.flags?.contains(.checksums) == true else { return true }
    return record.lend {
      RecordChecksum.isValid($0, classID: metadata.classID, rowID: rowID)
    }
  }

  private mutating func put(
    _ rowID: UInt32, _ record: [UInt8], stored: [UInt8]
  ) throws {
    rows.insert(rowID)
    lastRowID = max(lastRowID, rowID)
    lastVersion = max(lastVersion, record.first ?? 0)
    if samples.count < 16 { samples.append((rowID, record)) }
    try storeErrors(at: target.path, className: name) {
      try withKey(of: rowID) { key in
        try stored.lend { try target.put(key: key, value: $0) }
      }
    }
  }

  private func tellGaps(_ salvage: HashFileSalvage, _ report: inout SalvageReport) throws {
    if salvage.header == nil {
      report.lose(.fileDamaged, "The header of the file is destroyed.", at: position())
    }
    if salvage.missingCount > 0 {
      report.lose(
        .fileDamaged, "The last \(salvage.missingCount) bytes of the file are gone.",
        at: position(nil, salvage.size))
    }
    if salvage.unreadableCount > 0 {
      report.lose(
        .recordDamaged, "\(salvage.unreadableCount) compressed records can't be decompressed.",
        at: position())
    }
    for gap in salvage.gaps {
      report.lose(
        .fileDamaged, "\(gap.count) bytes of the file are unreadable.",
        at: position(nil, gap.lowerBound))
    }
    let found = try storeErrors(at: target.path) { try target.count } + (hadMetadata ? 1 : 0)
    guard let expected = salvage.expectedCount, expected > found else { return }
    report.lose(
      .countMismatch, "\(expected - found) of \(expected) records were not found, or left out.",
      at: position())
  }

  // MARK: The log

  /// Does what a save in the log has done to the class.
  mutating func apply(_ changes: ChangeSet.TableChanges, _ bytes: [UInt8]) throws {
    for change in changes.records {
      if change.rowID == 1, change.kind != .delete {
        read(Array(bytes[change.range]))
      } else if change.kind == .delete {
        _ = try storeErrors(at: target.path, className: name) {
          try withKey(of: change.rowID) { try target.remove(key: $0) }
        }
      } else {
        let stored = Array(bytes[change.range])
        guard let plain = seal.opened(change.rowID, stored) else { continue }
        try put(change.rowID, plain, stored: stored)
      }
    }
  }

  // MARK: The metadata row

  /// The class ID, if the metadata row could be read.
  var classID: UInt8? { metadata?.classID }
  /// Whether there is nothing to make a class of.
  func isEmpty() throws -> Bool {
    try !hadMetadata && storeErrors(at: target.path) { try target.count } == 0
  }

  /// Writes the metadata row and closes the file.
  ///
  /// `unused` are the class IDs that no other class has, lowest first; the answer is the one that
  /// this class has.
  mutating func finish(_ unused: [UInt8], _ report: inout SalvageReport) throws -> UInt8 {
    var row = metadata ?? guessedMetadata(unused, &report)
    if row.lastRowID < lastRowID {
      report.lose(
        .metadataDamaged,
        "The last row ID was \(row.lastRowID), below that of records: it is \(lastRowID) now.",
        at: position(1))
      row.lastRowID = lastRowID
    }
    var buffer = DataBuffer()
    row.write(to: &buffer)
    try storeErrors(at: target.path, className: name) {
      try target.put(
        key: [1, 0, 0, 0], value: seal.stored(1, buffer.bytes))
      report.classes.append(.init(name: name, objectCount: try target.count - 1))
      try target.close()
    }
    return row.classID
  }

  /// A metadata row made from the records.
  ///
  /// Their checksums hold the class ID, so that it can be found by trying.
  private func guessedMetadata(_ unused: [UInt8], _ report: inout SalvageReport) -> ClassMetadata {
    let proven = (0..<UInt8.max).first { classID in
      !samples.isEmpty
        && samples.contains { sample in
          sample.bytes.lend {
            RecordChecksum.isValid($0, classID: classID, rowID: sample.rowID)
          }
        }
    }
    let classID = proven ?? unused.first ?? 0
    let certainty =
      proven == nil ? "is a guess: check the order of classes" : "is proven by checksums"
    report.lose(
      .metadataDamaged,
      """
      The metadata row is lost, and was made anew from the records. The class ID \(classID) \
      \(certainty). The last row ID may be too low, if the last objects had been deleted.
      """,
      at: position(1))
    return ClassMetadata(
      lastRowID: lastRowID, classVersion: lastVersion, classID: classID, salt: .init(0, 0),
      flags: proven == nil ? nil : .checksums)
  }
}

import StoreEngine

/// An import of the lines of a file, which checks all of them before it puts any object.
struct JSONImport<Target: ImportTarget> {
  private(set) var target: Target
  let path: String
  let mode: JSONImportMode
  let batchSize: Int
  let progress: (IntegrityProgress) -> Void

  private var references: ImportReferences
  /// The objects of the file, by class.
  private var contents: [UInt8: Content] = [:]
  private var header: JSONHeader?
  /// The number of objects put since the last save.
  private var unsavedCount = 0
  /// The number of bytes of their lines.
  private var unsavedByteCount = 0
  private var passCount = 2
  private var pass = 0

  /// The objects of a class in the file.
  private struct Content {
    var rows = RowSet()
    var count = 0
    var lastRow: UInt32 = 1
    /// The number of lines without an ID, and the rows for them.
    var withoutID = 0
    var newRows: ClosedRange<UInt32>?
    /// The number of those rows used in this pass.
    var used = 0
  }

  private struct Line {
    let value: ObjectValue
    let classID: UInt8
    let byteCount: Int
  }

  /// The size of lines at which a batch ends, so that large values don't fill the memory.
  private static var batchByteCount: Int { 32 << 20 }

  init(
    _ target: Target, path: String, mode: JSONImportMode, batchSize: Int,
    progress: @escaping (IntegrityProgress) -> Void
  ) {
    (self.target, self.path, self.mode) = (target, path, mode)
    (self.batchSize, self.progress) = (max(1, batchSize), progress)
    references = ImportReferences(target.names) { target.accepts($0, as: $1) }
  }

  /// Imports all lines.
  ///
  /// - Returns: The number of objects.
  mutating func run() throws(StoreError) -> Int {
    do {
      try survey()
      try prepareRows()
      try forEachLine { importer, line in try importer.put(line) }
      if passCount > 2 { try forEachLine { importer, line in try importer.setReferences(line) } }
      try save()
      return contents.values.reduce(0) { $0 + $1.count }
    } catch {
      target.discard()
      throw .wrapping(error, .ioError, at: .init(path: path))
    }
  }

  // MARK: Lines

  private mutating func forEachLine(
    _ body: (inout JSONImport, Line) throws -> Void
  ) throws {
    var lines = try JSONLines(path)
    for classID in contents.keys { contents[classID]?.used = 0 }
    pass += 1
    var isFirst = true
    while let range = try lines.next() {
      var location = StoreError.Location(path: path, line: lines.number)
      do {
        let value = try JSONReader.value(in: lines.bytes, range)
        let isHeader = isFirst && JSONHeader.isHeader(value)
        isFirst = false
        if isHeader {
          if pass == 1 { try prepare(JSONHeader(lines.whole(value))) }
          continue
        }
        var object = try ObjectValue(value)
        if let bytes = object.bytes { object.bytes = try lines.whole(bytes) }
        references.large = lines.large.isEmpty ? nil : lines.large
        (location.className, location.rowID) = (object.className, object.rowID)
        guard let classID = target.names.id(of: object.className) else {
          throw StoreError(.notRegistered, "There is no such class: register it before the import.")
        }
        try body(&self, Line(value: object, classID: classID, byteCount: lines.byteCount))
      } catch let damage as JSONReader.Damage {
        location.offset = lines.offset(inFile: damage.offset)
        throw StoreError(.invalidJSON, "The line is not JSON: \(damage).", at: location)
      } catch { throw Self.located(error, location) }
      if lines.number % 1000 == 0 { report(lines.position, lines.size, location.className) }
    }
    report(lines.size, lines.size, nil)
  }

  private func report(_ position: Int, _ size: Int, _ className: String?) {
    progress(
      IntegrityProgress(className ?? path, (pass - 1) * size + position, of: passCount * size))
  }

  /// Returns an error with the location of the line.
  private static func located(_ error: any Error, _ location: StoreError.Location) -> StoreError {
    var location = location
    switch error {
    case let failure as ValueFailure:
      return StoreError(.invalidJSON, failure.description, at: location)
    case let failure as PropertyFailure:
      location.property = failure.property
      return StoreError(.invalidValue, failure.words, at: location)
    case let error as StoreError:
      if error.location.line != nil { return error }
      location.className = error.location.className ?? location.className
      location.rowID = error.location.rowID ?? location.rowID
      (location.offset, location.property) = (error.location.offset, error.location.property)
      return StoreError(error.code, error.message, at: location, underlying: error.underlying)
    default: return .wrapping(error, .invalidValue, at: location)
    }
  }

  private mutating func prepare(_ header: JSONHeader) throws {
    try target.prepare(header)
    self.header = header
    if mode != .newIDs {
      for exported in header.classes {
        guard let classID = target.names.id(of: exported.name) else { continue }
        try target.checkRowID(exported.lastRowID, classID)
      }
    }
    // The header may have added classes.
    let target = target
    references = ImportReferences(target.names) { target.accepts($0, as: $1) }
    references.seen = [:]
  }
}

// MARK: - Checking

extension JSONImport {
  /// Reads and checks the whole file before anything is written.
  private mutating func survey() throws {
    references.seen = [:]
    try forEachLine { importer, line in try importer.look(at: line) }
    try checkForUnknownRows()
  }

  private mutating func look(at line: Line) throws {
    let (value, classID) = (line.value, line.classID)
    if mode == .newIDs, value.bytes != nil {
      throw ValueFailure(
        "The bytes of the object may have references, which can't be renumbered: keep the IDs.")
    }
    var content = contents.removeValue(forKey: classID) ?? Content()
    content.count += 1
    if let row = value.rowID {
      guard content.rows.insert(row) else { throw ValueFailure("The id occurs twice.") }
      content.lastRow = max(content.lastRow, row)
      if mode != .newIDs { try target.checkRowID(row, classID) }
      if mode == .keepIDs, try target.hasRow(row, classID) {
        throw StoreError(
          .rowExists,
          "The store has an object with this ID: replace it, or give new IDs.")
      }
    } else {
      content.withoutID += 1
    }
    contents[classID] = content
    try target.check(value, classID, &references)
    try target.checkContent(value, classID, references)
    if target.setsReferencesLast(classID) { passCount = 3 }
  }

  /// Throws if a reference leads to a row that neither the file nor the store has ever had.
  private mutating func checkForUnknownRows() throws {
    let seen = references.seen ?? [:]
    references.seen = nil
    let isMissing = seen.contains { classID, rows in
      var isMissing = false
      rows.forEach { if !knows(classID, $0) { isMissing = true } }
      return isMissing
    }
    guard isMissing else { return }
    // Reads the file again to find the line.
    let known = self
    var finder = self
    finder.references.isKnown = { known.knows($0, $1) }
    try finder.forEachLine { importer, line in
      try importer.target.check(line.value, line.classID, &importer.references)
    }
  }

  private func knows(_ classID: UInt8, _ row: UInt32) -> Bool {
    let content = contents[classID]
    if mode == .newIDs { return content?.rows.contains(row) ?? false }
    let name = target.names.name(of: classID)
    let exported = header?.classes.first { $0.name == name }?.lastRowID ?? 1
    return row <= max(content?.lastRow ?? 1, exported, target.lastRow(classID))
  }

  private mutating func prepareRows() throws {
    if mode == .newIDs { references.renumbering = [:] }
    for (classID, content) in contents {
      var content = content
      let name = target.names.name(of: classID)
      let exported = header?.classes.first { $0.name == name }
      if mode == .newIDs {
        let count = content.count - content.withoutID
        if count > 0 {
          let rows = try target.reserve(count, classID)
          references.renumbering?[classID] = Renumbering(
            content.rows, count: count, from: rows.lowerBound)
        }
      } else {
        target.handOut(upTo: max(content.lastRow, exported?.lastRowID ?? 1), classID)
      }
      if content.withoutID > 0 {
        content.newRows = try target.reserve(content.withoutID, classID)
      }
      content.rows = RowSet()
      contents[classID] = content
    }
    // References may lead to rows of classes without objects in the file.
    if mode != .newIDs {
      for other in header?.classes ?? [] {
        guard let classID = target.names.id(of: other.name) else { continue }
        target.handOut(upTo: other.lastRowID, classID)
      }
    }
  }
}

// MARK: - Objects

extension JSONImport {
  /// Returns the row for the object of a line.
  private mutating func row(of line: Line) -> UInt32 {
    if let row = line.value.rowID {
      return references.renumbering.map { $0[line.classID]?.row(of: row) ?? 0 } ?? row
    }
    let used = contents[line.classID]?.used ?? 0
    contents[line.classID]?.used = used + 1
    return (contents[line.classID]?.newRows?.lowerBound ?? 0) + UInt32(used)
  }

  private mutating func put(_ line: Line) throws {
    let row = row(of: line)
    var isThere = false
    if mode == .replace, line.value.rowID != nil { isThere = try target.hasRow(row, line.classID) }
    let waits = target.setsReferencesLast(line.classID)
    if isThere, waits { return }
    references.isOmitting = waits
    defer { references.isOmitting = false }
    try target.put(line.value, line.classID, row, replaces: isThere, &references)
    try saveIfMany(line)
  }

  private mutating func setReferences(_ line: Line) throws {
    let row = row(of: line)
    guard target.setsReferencesLast(line.classID) else { return }
    if mode != .replace {
      references.count = 0
      try target.check(line.value, line.classID, &references)
      if references.count == 0 { return }
    }
    try target.put(line.value, line.classID, row, replaces: true, &references)
    try saveIfMany(line)
  }

  private mutating func saveIfMany(_ line: Line) throws {
    unsavedCount += 1
    unsavedByteCount += line.byteCount
    let isLarge = unsavedByteCount >= Self.batchByteCount && batchSize < .max
    if isLarge || unsavedCount >= batchSize { try save() }
  }

  private mutating func save() throws {
    try target.save()
    (unsavedCount, unsavedByteCount) = (0, 0)
  }
}

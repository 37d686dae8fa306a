package import StoreEngine

/// An import into a store without its classes.
///
/// Records are written as the program writes them. The indexes of the classes are cleared, and the
/// program rebuilds them. Inverses are not updated, and unique values are not checked.
package struct RecordTarget: ImportTarget {
  private let backend: any StoreBackend
  private var classes: [UInt8: RecordClass]
  private(set) var names: ClassNames
  /// The layout numbers in the store for those of the file, by class.
  private var layouts: [UInt8: [UInt8: UInt8]] = [:]
  private var newest: [UInt8: UInt8] = [:]
  private var hasOtherIDs = false
  /// The classes that the store does not have yet.
  private var newClasses: Set<UInt8> = []

  /// The records to save.
  private var buffer = DataBuffer()
  private var changes: [UInt8: [ChangeSet.RecordChange]] = [:]
  private var clearedClasses: Set<UInt8> = []
  private let externals: ImportedExternals

  /// Imports the lines of a file into a store that no program has open.
  ///
  /// - Returns: The number of objects.
  /// - Throws: ``/StoreEngine/StoreError`` with the file, line, class, row and property, as far as
  ///   they are known.
  package static func importJSON(
    from path: String, into backend: any StoreBackend, mode: JSONImportMode,
    batchSize: Int = 10_000, progress: @escaping (IntegrityProgress) -> Void
  ) throws(StoreError) -> Int {
    var importer = JSONImport(
      try RecordTarget(backend), path: path, mode: mode, batchSize: batchSize, progress: progress)
    return try importer.run()
  }

  private init(_ backend: any StoreBackend) throws(StoreError) {
    self.backend = backend
    externals = ImportedExternals(backend)
    let known = try RecordClass.all(in: backend)
    classes = Dictionary(known.map { ($0.metadata.classID, $0) }) { first, _ in first }
    names = ClassNames(known.lazy.map { ($0.name, $0.metadata.classID) })
  }

  // MARK: Classes

  mutating func prepare(_ header: JSONHeader) throws {
    for exported in header.classes {
      if names.id(of: exported.name) == nil { try addClass(exported) }
      guard let classID = names.id(of: exported.name) else { continue }
      if classID != exported.classID { hasOtherIDs = true }
      newest[classID] = exported.layouts.last?.number
      var numbers: [UInt8: UInt8] = [:]
      for layout in exported.layouts {
        numbers[layout.number] = classes[classID]?.number(of: layout)
      }
      layouts[classID] = numbers
    }
  }

  /// Adds a class that only the file has.
  private mutating func addClass(_ exported: JSONHeader.Class) throws {
    guard !exported.layouts.isEmpty else { return }
    guard classes[exported.classID] == nil else {
      throw StoreError(
        .classOrder,
        """
        The store has no such class, and its class ID belongs to \
        "\(classes[exported.classID]?.name ?? "")". Import with the program, which knows the order \
        of the classes.
        """, at: .init(className: exported.name))
    }
    let metadata = ClassMetadata(
      classVersion: exported.layouts.last?.number ?? 0, classID: exported.classID,
      salt: .random(), flags: [.checksums, .layouts])
    classes[exported.classID] = RecordClass(
      exported.name, try backend.table(named: exported.name), metadata, exported.layouts)
    newClasses.insert(exported.classID)
    names = ClassNames(classes.values.lazy.map { ($0.name, $0.metadata.classID) })
  }

  private func known(_ classID: UInt8) throws -> RecordClass {
    guard let known = classes[classID], known.metadata.flags != nil else {
      throw StoreError(
        .newerVersion,
        "BNRPersistence wrote the class: import with the program, or save the class once.")
    }
    return known
  }

  /// Returns the number that the layout of a line has in the store.
  private func number(_ value: ObjectValue, _ known: RecordClass) throws -> UInt8 {
    let classID = known.metadata.classID
    guard let numbers = layouts[classID], !numbers.isEmpty || newest[classID] != nil else {
      if let number = value.layout ?? known.layouts.last?.number { return number }
      return known.metadata.classVersion
    }
    if let number = numbers[value.layout ?? newest[classID] ?? 0] { return number }
    throw StoreError(
      .changedLayout,
      "The store has the class with other properties. Import with the program, which converts them."
    )
  }

  // MARK: Rows

  func accepts(_ classID: UInt8, as className: String) -> Bool { true }

  func hasRow(_ row: UInt32, _ classID: UInt8) throws -> Bool {
    guard let known = classes[classID], !newClasses.contains(classID) else { return false }
    return try backend.withRecord(row, in: known.table) { _ in true } ?? false
  }

  func lastRow(_ classID: UInt8) -> UInt32 { classes[classID]?.metadata.lastRowID ?? 1 }

  mutating func handOut(upTo row: UInt32, _ classID: UInt8) {
    let last = lastRow(classID)
    classes[classID]?.metadata.lastRowID = max(last, row)
  }

  mutating func reserve(_ count: Int, _ classID: UInt8) throws -> ClosedRange<UInt32> {
    let last = UInt64(lastRow(classID))
    guard let end = UInt32(exactly: last + UInt64(count)) else {
      throw StoreError(.rowIDsExhausted, "The class has used all its row IDs.")
    }
    handOut(upTo: end, classID)
    return UInt32(last) + 1...end
  }

  func setsReferencesLast(_ classID: UInt8) -> Bool { false }

  // MARK: Objects

  func check(
    _ value: ObjectValue, _ classID: UInt8, _ references: inout ImportReferences
  ) throws {
    let known = try known(classID)
    var buffer = DataBuffer()
    try write(value, known, try number(value, known), to: &buffer, &references)
  }

  func checkContent(_: ObjectValue, _: UInt8, _: ImportReferences) {
    // Only the program can read the content.
  }

  mutating func put(
    _ value: ObjectValue, _ classID: UInt8, _ row: UInt32, replaces: Bool,
    _ references: inout ImportReferences
  ) throws {
    let known = try known(classID)
    let number = try number(value, known)
    let start = buffer.beginRecord()
    if known.hasNumbers { buffer.write(number) }
    references.externals = externals
    defer { references.externals = nil }
    try write(value, known, number, to: &buffer, &references)
    externals.setOwner(.init(classID, row), replaces: replaces)
    if known.hasChecksums { buffer.writeChecksum(classID: classID, rowID: row) }
    changes[classID, default: []].append(
      .init(kind: replaces ? .update : .insert, rowID: row, range: start..<buffer.byteCount))
    let version = max(known.metadata.classVersion, number)
    classes[classID]?.metadata.classVersion = version
  }

  private func write(
    _ value: ObjectValue, _ known: RecordClass, _ number: UInt8, to buffer: inout DataBuffer,
    _ references: inout ImportReferences
  ) throws {
    if let text = value.bytes {
      guard !hasOtherIDs, let bytes = StoredValue.string(text).plainBytes else {
        throw ValueFailure(
          "The bytes are not Base64, or the classes of the file have other IDs than in the store.")
      }
      return buffer.append(bytes)
    }
    guard let coding = known.coding(number) else {
      throw ValueFailure("The store knows no properties of the class: \"bytes\" were expected.")
    }
    try coding.checkForMissing(value.values)
    try coding.write(value.values, over: nil, to: &buffer, &references)
    if let failure = buffer.failure { throw failure }
  }

  // MARK: Saving

  mutating func save() throws {
    guard changes.values.contains(where: { !$0.isEmpty }) else { return }
    var tables: [ChangeSet.TableChanges] = []
    var names: [ChangeSet.NameChange] = []
    for classID in changes.keys.sorted() {
      guard let known = classes[classID], var records = changes[classID] else { continue }
      let start = buffer.beginRecord()
      known.metadata.write(to: &buffer)
      records.append(
        .init(kind: .update, rowID: ClassMetadata.rowID, range: start..<buffer.byteCount))
      tables.append(.init(table: known.table, records: records))
      if newClasses.contains(classID) { names.append(appendLayouts(of: known)) }
    }
    var set = ChangeSet(bytes: buffer.takeBytes(), tables: tables, names: names)
    try clearIndexes(&set)
    try externals.addChanges(to: &set)
    _ = try backend.commit(set)
    try externals.didCommit()
    newClasses.subtract(changes.keys)
    clearedClasses.formUnion(changes.keys)
    changes = [:]
  }

  private mutating func appendLayouts(of known: RecordClass) -> ChangeSet.NameChange {
    let name = LayoutFormat.bufferName(of: known.name)
    var layouts = DataBuffer()
    LayoutFormat.write(known.layouts, to: &layouts)
    let start = buffer.beginRecord()
    buffer.append(NamedBufferChecksum.sealed(layouts.bytes, name: name))
    return .init(name: name, range: start..<buffer.byteCount)
  }

  /// Clears the indexes of changed classes; the program rebuilds them.
  private func clearIndexes(_ set: inout ChangeSet) throws {
    let changed = changes.keys.filter { !clearedClasses.contains($0) }.compactMap {
      classes[$0]?.name
    }
    for table in try backend.orderedTableNames() where table.kind == .index {
      let isTheirs = changed.contains { name in
        table.name.hasPrefix(name + IndexNames.byProperties)
          || table.name == name + IndexNames.fullText
      }
      if isTheirs { set.clear(try backend.orderedTable(table)) }
    }
  }

  mutating func discard() {
    changes = [:]
    buffer = DataBuffer()
    externals.discard()
  }
}

extension RecordClass {
  /// Returns the number of a layout in the store, or nil if the store does not have it.
  fileprivate func number(of layout: SavedLayout) -> UInt8? {
    layouts.last { $0.classVersion == layout.classVersion && $0.form.isSame(as: layout.form) }?
      .number
  }
}

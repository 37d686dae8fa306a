import StoreEngine

/// An import through the objects of a store, which updates indexes, inverses and the history.
struct ObjectTarget: ImportTarget {
  private let store: Store
  let names: ClassNames
  /// The layouts of the file, by class and number.
  private var layouts: [UInt8: [UInt8: ImportedLayout]] = [:]
  /// The layout number of lines without one.
  private var newest: [UInt8: UInt8] = [:]
  /// Whether class IDs differ between file and store, so that raw bytes can't be used.
  private var hasOtherIDs = false

  init(_ store: Store) {
    self.store = store
    names = ClassNames(store.classes.lazy.map { ($0.name, $0.classID) })
  }

  mutating func prepare(_ header: JSONHeader) throws {
    for exported in header.classes {
      guard let classID = names.id(of: exported.name),
        let entry = store.registration(classID: classID)
      else {
        hasOtherIDs = true
        continue
      }
      if classID != exported.classID { hasOtherIDs = true }
      guard let last = exported.layouts.last else { continue }
      newest[classID] = last.number
      layouts[classID] = try ImportedLayout.all(of: entry, exported.layouts)
    }
  }

  private func entry(_ classID: UInt8) throws -> RegisteredClass {
    if let entry = store.registration(classID: classID) { return entry }
    throw StoreError(.notRegistered, "There is no such class: register it before the import.")
  }

  /// Returns the layout of a line.
  private func layout(_ value: ObjectValue, _ entry: RegisteredClass) throws -> ImportedLayout {
    if let known = layouts[entry.classID] {
      let number = value.layout ?? newest[entry.classID] ?? 0
      guard let layout = known[number] else {
        throw ValueFailure("The header has no layout \(number) of the class.")
      }
      return layout
    }
    guard let number = value.layout, number != entry.version else { return .current(entry) }
    guard entry.coding == nil else {
      throw ValueFailure("The file has no header with the layout \(number) of the class.")
    }
    return ImportedLayout(
      coding: nil, reading: entry.layouts.reading(number), isCurrent: false)
  }

  // MARK: Rows

  func accepts(_ classID: UInt8, as className: String) -> Bool {
    guard let declared = names.id(of: className).flatMap({ store.registration(classID: $0) }) else {
      // It may be an abstract superclass: the check of the content finds out.
      return true
    }
    return store.registration(classID: classID)?.isKind(of: declared.type) ?? false
  }

  func hasRow(_ row: UInt32, _ classID: UInt8) throws -> Bool {
    let entry = try entry(classID)
    return entry.mayHave(row) ? try store.hasRecord(row, entry) : false
  }

  func lastRow(_ classID: UInt8) -> UInt32 {
    store.registration(classID: classID)?.shared.lastRowID ?? 1
  }

  func handOut(upTo row: UInt32, _ classID: UInt8) {
    store.registration(classID: classID)?.shared.handOut(upTo: row)
  }

  func reserve(_ count: Int, _ classID: UInt8) throws -> ClosedRange<UInt32> {
    try store.backend.reserveRows(count, in: try entry(classID).table)
  }

  func setsReferencesLast(_ classID: UInt8) -> Bool {
    store.registration(classID: classID)?.isAttentive ?? false
  }

  // MARK: Objects

  func check(
    _ value: ObjectValue, _ classID: UInt8, _ references: inout ImportReferences
  ) throws {
    let entry = try entry(classID)
    let layout = try layout(value, entry)
    if case .later = layout.reading {
      throw StoreError(
        .newerVersion, "A later program exported the object: use that one, or a newer one.")
    }
    if value.bytes != nil {
      _ = try bytes(of: value)
      return
    }
    guard let coding = layout.coding else {
      throw ValueFailure("The class declares no properties: \"bytes\" were expected, not values.")
    }
    if !layout.isCurrent { try coding.checkForMissing(value.values) }
    try coding.check(value.values, &references)
  }

  func checkContent(
    _ value: ObjectValue, _ classID: UInt8, _ references: ImportReferences
  ) throws {
    let entry = try entry(classID)
    let layout = try layout(value, entry)
    var references = references
    // The target objects may come later in the file.
    (references.isOmitting, references.seen) = (true, nil)
    let content = try content(value, layout, entry, nil, &references)
    do {
      try store.tryContent(content, of: entry, by: layout.reading)
    } catch let error as DataBufferError {
      // Only the raw bytes of a class contain references here.
      if error.code == .unknownRow { return }
      guard layout.isCurrent, let coding = layout.coding else { throw error }
      let property = coding.property(at: error.offset, of: content)
      throw PropertyFailure(property: property, words: "\(error.message).")
    }
  }

  private func bytes(of value: ObjectValue) throws -> [UInt8] {
    guard !hasOtherIDs else {
      throw ValueFailure(
        """
        The bytes of the object may have references by class ID, and the class IDs of the file \
        differ from those of the store.
        """)
    }
    guard let text = value.bytes, let bytes = StoredValue.string(text).plainBytes else {
      throw ValueFailure("The bytes are not Base64.")
    }
    return bytes
  }

  func put(
    _ value: ObjectValue, _ classID: UInt8, _ row: UInt32, replaces: Bool,
    _ references: inout ImportReferences
  ) throws {
    let entry = try entry(classID)
    references.store = { [store] in try store.content(of: $0) }
    defer { references.store = nil }
    let layout = try layout(value, entry)
    if replaces, let object = try store.object(entry, rowID: row) {
      let content = try content(value, layout, entry, object, &references)
      store.willUpdate(object)
      try store.setContent(of: object, entry, to: content, by: layout.reading)
      object.noteObservedChange()
      return
    }
    let content = try content(value, layout, entry, nil, &references)
    // If others refer to the row already, this is their object.
    let object = entry.object(row)
    guard object.state.isFault else {
      throw StoreError(
        .rowExists,
        "The store has an object with this ID: replace it, or give new IDs.")
    }
    try store.setContent(of: object, entry, to: content, by: layout.reading)
    store.insertInRow(object, entry)
  }

  /// Returns the content of a line.
  ///
  /// Missing properties have the values of the object, or the defaults without one.
  private func content(
    _ value: ObjectValue, _ layout: ImportedLayout, _ entry: RegisteredClass,
    _ object: StoredObject?, _ references: inout ImportReferences
  ) throws -> [UInt8] {
    guard value.bytes == nil, let coding = layout.coding else { return try bytes(of: value) }
    var base: DataBuffer?
    if layout.isCurrent, !coding.isComplete(value.values) {
      if let object {
        base = DataBuffer(try store.contentImage(of: object, entry).bytes)
      } else {
        base = DeclaredLayout.freshContent(of: entry.type, store)
      }
    }
    var buffer = DataBuffer([], store: store)
    base?.owner = store
    try coding.write(value.values, over: base, to: &buffer, &references)
    if let failure = buffer.failure { throw failure }
    return buffer.bytes
  }

  func save() throws { try store.saveChanges() }
  func discard() { store.discardChanges() }
}

/// A layout of a file, and the way the class reads it.
struct ImportedLayout {
  let coding: RecordCoding?
  let reading: ClassLayouts.RecordReading
  /// Whether it is the layout of the program's class, which has defaults.
  let isCurrent: Bool

  /// Returns the current layout of a class.
  static func current(_ entry: RegisteredClass) -> ImportedLayout {
    ImportedLayout(coding: entry.coding, reading: .asVersion(entry.classVersion), isCurrent: true)
  }

  /// Returns the layouts that a header has for a class.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `changedLayout` if one can't be read without loss.
  static func all(
    of entry: RegisteredClass, _ saved: [SavedLayout]
  ) throws(StoreError) -> [UInt8: ImportedLayout] {
    let declared = try DeclaredLayout.of(entry.type)
    let layouts = try LayoutResolution(entry.name, declared, nil, saved).layouts()
    var all: [UInt8: ImportedLayout] = [:]
    for layout in saved {
      let isCurrent =
        layout.classVersion == declared.classVersion
        && declared.form.map { $0.isSame(as: layout.form) } ?? false
      all[layout.number] =
        isCurrent
        ? .current(entry)
        : ImportedLayout(
          coding: RecordCoding(layout.form), reading: layouts.reading(layout.number),
          isCurrent: false)
    }
    return all
  }
}

extension Store {
  /// Reads content into a temporary object.
  ///
  /// - Throws: The errors of the class.
  fileprivate func tryContent(
    _ content: [UInt8], of entry: RegisteredClass, by reading: ClassLayouts.RecordReading
  ) throws {
    let sample = entry.type.init()
    sample.state.insert(.sample)
    try readContent(of: sample, entry, content, by: reading)
  }

  private func readContent(
    of object: StoredObject, _ entry: RegisteredClass, _ content: [UInt8],
    by reading: ClassLayouts.RecordReading
  ) throws {
    var buffer = DataBuffer(content, store: self)
    buffer.version = entry.version
    try readContent(of: object, entry, by: reading, from: &buffer)
    guard buffer.remainingCount == 0 else { throw unreadBytes(buffer) }
  }

  /// Sets the content of an object from content of any layout.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidValue`. A fault stays a fault then.
  fileprivate func setContent(
    of object: StoredObject, _ entry: RegisteredClass, to content: [UInt8],
    by reading: ClassLayouts.RecordReading
  ) throws(StoreError) {
    object.state.insert(.loading)
    defer { object.state.remove(.loading) }
    do {
      try readContent(of: object, entry, content, by: reading)
    } catch { throw .wrapping(error, .invalidValue, at: entry.location(object.rowID)) }
    object.state.insert(.hasContent)
  }
}

extension Store {
  /// Stores a large value in pieces, for an object that reads the content.
  ///
  /// - Returns: The content for the record, or nil if the text is not Base64.
  fileprivate func content(of text: LargeText) throws -> ExternalContent? {
    guard let externals = externalsIfKept(),
      text.decodedByteCount > configuration.externalThreshold
    else { return try text.decoded().map { .inline($0) } }
    let values = externals.values
    var writer = try ExternalValueWriter(values.storage, .random())
    guard try text.forEachDecodedPiece({ try writer.write($0) }) else { return nil }
    let reference = try writer.finish()
    externals.keep(ExternalValue(reference, in: values, isNew: true))
    return .outside(reference)
  }
}

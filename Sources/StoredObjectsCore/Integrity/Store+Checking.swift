import StoreEngine

extension Store {
  /// Reads all saved data, and reports everything that is wrong.
  ///
  ///     let check = try store.check()
  ///     if !check.isSound { for finding in check.findings { print(finding) } }
  ///
  /// In addition to the checks of ``/StoreEngine/BackendCheck``, each record of the registered
  /// classes is read by its class. Each reference must lead to an existing row, both sides of a
  /// relationship must agree, and indexes must match the records.
  ///
  /// The check is of the saved data only: it reads into separate objects, and does not touch the
  /// objects of your application or unsaved changes. If a `readContent(from:)` does more than set
  /// the properties of its own object, it does so here, too.
  ///
  /// Saves of other stores on the backend wait during the check.
  ///
  /// Complexity: Linear in the size of all records, which are read twice. Memory: one bit for each
  /// row, 16 bytes for each object of a class with a unique index that is not built yet, and the
  /// memory of ``/StoreEngine/StoreBackend/inspect()``.
  ///
  /// - Parameter progress: Called with the progress of the check; it must not save.
  /// - Returns: The amount of data read, and the findings.
  /// - Throws: ``/StoreEngine/StoreError`` with `closed`, or `ioError` if the directory can't be
  ///   read. Damage is not an error but a finding.
  public func check(
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> StoreCheck {
    collectExternals()
    do {
      var report = StoreCheck()
      try backend.coordinator.whileCommitting { () throws(StoreError) in
        var check = BackendCheck(backend)
        try check.walk(progress)
        report = check.takeReport()
        var objects = ObjectCheck(self, check.tables, report)
        for entry in classes { try objects.run(entry, progress) }
        objects.compareInverses()
        report = objects.report
      }
      return report
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: backend.location))
    }
  }
}

/// The part of a check that decodes the records of each class and follows their references.
struct ObjectCheck {
  private let store: Store
  private let tables: [String: BackendCheck.CheckedTable]
  private let recorder = ReferenceRecorder()
  private var inverses: InverseCheck?
  private let listedValues: ListedValues
  private(set) var report: StoreCheck

  init(_ store: Store, _ tables: [String: BackendCheck.CheckedTable], _ report: StoreCheck) {
    self.store = store
    self.tables = tables
    self.report = report
    inverses = InverseCheck(store)
    listedValues = ListedValues(store.backend)
  }

  /// Decodes all records of a class.
  mutating func run(
    _ entry: RegisteredClass, _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) {
    // A table that could not be read has a finding already.
    guard let table = tables[entry.name], table.rows != nil else { return }
    var indexes = IndexCheck(store.backend, entry)
    defer { for finding in indexes.findings { report.add(finding) } }
    if let metadata = table.metadata, metadata.classID != entry.classID {
      report.add(
        .classID, "Saved as class \(metadata.classID), registered as class \(entry.classID).",
        at: entry.location())
      return
    }
    let exists = exists
    var text = checkedText(entry)
    var walk = TableWalk(store.backend, entry.table)
    let total = try store.backend.recordCount(in: entry.table)
    var done = 0
    do {
      try walk.run { rowID, bytes, range in
        done += 1
        if done % 8192 == 0 { progress(IntegrityProgress(entry.name, done, of: total)) }
        guard rowID > ClassMetadata.rowID else { return }
        guard !table.damagedRows.contains(rowID),
          let object = decode(rowID, bytes, range, entry, &indexes)
        else {
          // The expected index content of this row is unknown.
          text = nil
          inverses?.addUnread(rowID, entry)
          return
        }
        inverses?.add(object, entry, where: exists)
        if let fullText = entry.fullText { text?.add(rowID, fullText.texts(of: object)) }
      }
      indexes.finish()
      try compare(&text, entry)
    } catch  where error.code != .closed {
      // The first pass has the same finding, unless the disk has failed since.
      report.add(StoreFinding(.fileDamaged, error, at: entry.location()))
    }
  }

  private mutating func decode(
    _ rowID: UInt32, _ bytes: [UInt8], _ range: Range<Int>, _ entry: RegisteredClass,
    _ indexes: inout IndexCheck
  ) -> StoredObject? {
    let object = entry.type.init()
    object.state = []
    object.rowID = rowID
    recorder.removeAll()
    store.referenceRecorder = recorder
    defer { store.referenceRecorder = nil }
    var buffer = store.takeWindow(bytes, range)
    var isRead = true
    do {
      try store.decode(object, entry, from: &buffer)
      object.state = [.hasContent, .detached]
      indexes.compare(object)
    } catch {
      isRead = false
      // A class that the program does not register is no error.
      if error.code != .notRegistered {
        report.add(StoreFinding(Self.kind(of: error), error, at: entry.location(rowID)))
      }
    }
    for reference in recorder.references {
      check(reference, at: entry.location(rowID, offset: reference.offset))
    }
    if isRead {
      let findings = listedValues.findings(recorder.values, rowID, entry)
      for finding in findings { report.add(finding) }
    }
    return isRead ? object : nil
  }

  /// Returns whether a row exists; false for a class that could not be read.
  private var exists: (ObjectKey) -> Bool {
    { [store, tables] key in
      store.registration(classID: key.classID).flatMap { tables[$0.name]?.rows }?
        .contains(key.rowID) == true
    }
  }

  /// Adds findings for references that only one side of a relationship has.
  mutating func compareInverses() {
    guard var gathered = inverses, !gathered.isBalanced else { return }
    gathered.beginGathering()
    let exists = exists
    for entry in store.classes where gathered.concerns(entry) {
      tables[entry.name]?.rows?.forEach { rowID in
        guard rowID > ClassMetadata.rowID,
          let object = try? store.savedObject(rowID, entry)
        else { return }
        gathered.add(object, entry, where: exists)
      }
    }
    for finding in gathered.findings() { report.add(finding) }
  }

  private static func kind(of error: StoreError) -> StoreFinding.Kind {
    if error.code == .newerVersion { return .newerVersion }
    switch (error.underlying as? DataBufferError)?.code {
    case .unknownRow, .unknownClass: return .danglingReference
    default: return .recordDamaged
    }
  }

  private mutating func check(
    _ reference: ReferenceRecorder.Reference, at location: StoreError.Location
  ) {
    guard let target = store.registration(classID: reference.classID) else { return }
    if let table = tables[target.name] {
      // If a class could not be read, its rows are unknown.
      guard let rows = table.rows, !rows.contains(reference.rowID) else { return }
    } else if report.hasFinding(about: target.name) {
      return
    }
    report.add(
      .danglingReference,
      "A reference leads to \(target.name) row \(reference.rowID), which does not exist.",
      at: location
    )
  }
}

// MARK: Full-text indexes

extension ObjectCheck {
  /// Returns the check of a complete index; an incomplete one is rebuilt before it is used.
  private mutating func checkedText(_ entry: RegisteredClass) -> TextCheck? {
    do {
      guard let text = entry.fullText, try text.hasStamp(store.backend) else { return nil }
      return TextCheck(text, store.backend)
    } catch {
      report.add(StoreFinding(.index, error, at: entry.location()))
      return nil
    }
  }

  private mutating func compare(_ text: inout TextCheck?, _ entry: RegisteredClass)
    throws(StoreError)
  {
    guard text != nil else { return }
    let advice = "buildFullTextIndexes(rebuildsExisting: true) rebuilds it"
    do {
      for row in try text?.wrongRows() ?? [] {
        report.add(
          .index, "The full-text index differs from the texts of the object; \(advice).",
          at: entry.location(row))
      }
      if try text?.hasRightCounts() == false {
        report.add(
          .index, "The full-text index has wrong counts of texts; \(advice).",
          at: entry.location())
      }
    } catch  where error.isOfIndex {
      report.add(StoreFinding(.index, error, at: entry.location()))
    }
  }
}

extension StoreCheck {
  fileprivate func hasFinding(about className: String) -> Bool {
    findings.contains { $0.location.className == className }
  }
}

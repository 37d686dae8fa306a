import StoreEngine

/// The state of a store for values outside of records, created with the first such value.
final class StoreExternals {
  /// The values that the process holds.
  let values: ExternalValues
  /// Whether the store has found a reference, so that rows of any class may have some.
  var isUsed = false
  /// The size above which written values are stored outside; nil for the limit of the store.
  var threshold: Int?
  /// The destination of the values of objects that are being written.
  var placement = ExternalPlacement.stored
  /// The values that the current save has written, and their positions in its bytes.
  private(set) var written: [(location: Int, value: ExternalValue)] = []
  /// The values that images refer to.
  ///
  /// They are kept as long as an undo history may restore them.
  private(set) var kept: [ExternalID: ExternalBox] = [:]
  /// The reason why the last value could not be written.
  var failure: StoreError?

  init(_ values: ExternalValues) { self.values = values }

  func beginSave() { (written, failure) = ([], nil) }

  /// Returns the reference to a value; for a record, stores the value first.
  func reference(
    to box: ExternalBox, isImage: Bool, at location: Int
  ) throws(StoreError) -> ExternalReference {
    if isImage, let reference = box.imageReference {
      kept[reference.id] = box
      return reference
    }
    let value = try box.stored(in: values)
    isUsed = true
    if isImage { kept[value.reference.id] = box } else { written.append((location, value)) }
    return value.reference
  }

  /// Keeps a stored value until it is saved, for an object that reads the reference.
  func keep(_ value: ExternalValue) { kept[value.reference.id] = ExternalBox(value) }

  /// Releases the values that images refer to.
  func forgetImages() { kept = [:] }
}

/// The destination of the values of an object that is being written.
enum ExternalPlacement {
  /// Outside of the record, after the values are stored.
  case stored
  /// Inside of the record.
  case inline
  /// None: the record gets the reference that the closure returns.
  case listed((ExternalBox) -> ExternalReference)
}

/// The changes of a save to the catalogue of values.
struct ExternalChanges {
  var added: [ExternalID] = []
  var dropped: [ExternalID] = []
}

extension Store {
  /// Returns the state for values, or nil if the backend stores none outside of records.
  func externalsIfKept() -> StoreExternals? {
    if let externals { return externals }
    externals = backend.coordinator.externalValues(of: backend).map { StoreExternals($0) }
    return externals
  }

  /// Adds the changed references from rows to values to a save.
  ///
  /// In a store without such values, this only checks a flag of each class.
  func addExternalChanges(to changes: inout ChangeSet) throws(StoreError) -> ExternalChanges {
    var difference = ExternalChanges()
    let isUsed = externals?.isUsed == true
    guard isUsed || classes.contains(where: { $0.hasExternals }), externalsIfKept() != nil else {
      return difference
    }
    let catalogue = try ExternalCatalogue(backend)
    var written = (externals?.written ?? [])[...]
    for table in changes.tables {
      guard let entry = classes.first(where: { $0.table == table.table }),
        isUsed || entry.hasExternals
      else { continue }
      for record in table.records where record.rowID > ClassMetadata.rowID {
        var references: [ExternalID: ExternalValue] = [:]
        while let first = written.first, record.range.contains(first.location) {
          references[first.value.reference.id] = first.value
          written.removeFirst()
        }
        // The row of an insert has no values: it is new, or its deletion has removed them.
        if record.kind == .insert && references.isEmpty { continue }
        let owner = ExternalCatalogue.Owner(entry.classID, record.rowID)
        for old in try catalogue.values(of: owner) where references.removeValue(forKey: old) == nil
        {
          catalogue.remove(old, of: owner, from: &changes)
          difference.dropped.append(old)
        }
        for value in references.values {
          try check(value)
          catalogue.add(value.reference, of: owner, to: &changes)
          difference.added.append(value.reference.id)
        }
      }
    }
    guard written.isEmpty else { throw unlisted }
    if case .trial = valueTransfer { return difference }
    if !difference.added.isEmpty { try externals?.values.storage.synchronize() }
    return difference
  }

  /// Checks that a value exists: another store may have removed it since it was read here.
  private func check(_ value: ExternalValue) throws(StoreError) {
    switch valueTransfer {
    case .trial: break
    case .checked(let check): try check(value.reference)
    case nil:
      if !value.isNew { _ = try externals?.values.storage.open(value.reference) }
    }
  }

  /// The error for a value that is not in the catalogue: the next opening would remove it.
  private var unlisted: StoreError {
    StoreError(
      .notEncodable,
      """
      An ExternalData was written to a buffer other than the record of its object: write it to \
      that record.
      """,
      at: .init(path: backend.location))
  }

  /// Removes the values that a committed save no longer refers to, unless something holds them.
  func didCommit(_ difference: ExternalChanges) {
    guard let externals else { return }
    externals.beginSave()
    if case .trial = valueTransfer { return }
    externals.values.didDrop(difference.dropped)
  }

  /// Keeps all values after a failed commit that may have reached the disk.
  func didFail(_ error: any Error) {
    if (error as? StoreError)?.code == .reopenNeeded { externals?.values.suspend() }
  }

  /// Removes the values that are no longer needed.
  func collectExternals() {
    guard let externals else { return }
    externals.beginSave()
    if history == nil { externals.forgetImages() }
    if case .trial = valueTransfer { return }
    externals.values.collect(backend)
  }
}

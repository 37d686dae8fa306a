import StoreEngine

/// What a store knows of values outside of records; made when it meets the first.
final class StoreExternals {
  /// The values that the process holds.
  let values: ExternalValues
  /// Whether the store has met a reference, so that rows of any class may have some.
  var isUsed = false
  /// The size from which on values are stored outside that are being written; nil for that of the
  /// store.
  var threshold: Int?
  /// Where the values of objects go that are written.
  var placement = ExternalPlacement.stored
  /// The values that were written by the save in work, and where in its bytes they stand.
  private(set) var written: [(location: Int, value: ExternalValue)] = []
  /// The values that images refer to.
  ///
  /// They are held as long as a history may bring them back.
  private(set) var kept: [ExternalID: ExternalBox] = [:]
  /// Why the last value could not be written.
  var failure: StoreError?

  init(_ values: ExternalValues) { self.values = values }

  func beginSave() { (written, failure) = ([], nil) }

  /// What a record, or an image of an object, holds of a value, which is stored first for a record.
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

  /// Holds a stored value until it is saved, for an object that reads the reference.
  func keep(_ value: ExternalValue) { kept[value.reference.id] = ExternalBox(value) }

  /// Lets go of what images refer to.
  func forgetImages() { kept = [:] }
}

/// Where the values of an object go when it is written.
enum ExternalPlacement {
  /// Outside of the record, where they are stored first.
  case stored
  /// Into the record.
  case inline
  /// Nowhere: the record gets the reference that the closure returns.
  case listed((ExternalBox) -> ExternalReference)
}

/// What a save does to the list of values.
struct ExternalChanges {
  var added: [ExternalID] = []
  var dropped: [ExternalID] = []
}

extension Store {
  /// What the store knows of values; nil where the backend keeps none outside of records.
  func externalsIfKept() -> StoreExternals? {
    if let externals { return externals }
    externals = backend.coordinator.externalValues(of: backend).map { StoreExternals($0) }
    return externals
  }

  /// Adds to a save which rows refer to which values from now on.
  ///
  /// A store without such values is asked no more than a flag for each class.
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
        // The row of an insert has never been there, or its deletion has taken its values along.
        if record.kind == .insert && references.isEmpty { continue }
        let owner = ExternalCatalogue.Owner(entry.classID, record.rowID)
        for old in try catalogue.values(of: owner) where references.removeValue(forKey: old) == nil
        {
          catalogue.remove(old, of: owner, from: &changes)
          difference.dropped.append(old)
        }
        for value in references.values {
          // Another store may have removed it since it was read here.
          if !value.isNew { _ = try externals?.values.storage.open(value.reference) }
          catalogue.add(value.reference, of: owner, to: &changes)
          difference.added.append(value.reference.id)
        }
      }
    }
    guard written.isEmpty else { throw unlisted }
    if !difference.added.isEmpty { try externals?.values.storage.synchronize() }
    return difference
  }

  /// A value that the list lacks would be removed at the next opening.
  private var unlisted: StoreError {
    StoreError(
      .notEncodable,
      "An ExternalData was written to a buffer that is no record of its object: write it to that one.",
      at: .init(path: backend.location))
  }

  /// A save has been committed: what it has dropped goes, unless somebody holds it.
  func didCommit(_ difference: ExternalChanges) {
    guard let externals else { return }
    externals.beginSave()
    externals.values.didDrop(difference.dropped)
  }

  /// A commit has failed: where it may have reached the disk, values stay.
  func didFail(_ error: any Error) {
    if (error as? StoreError)?.code == .reopenNeeded { externals?.values.suspend() }
  }

  /// Removes the values that nobody needs any more.
  func collectExternals() {
    guard let externals else { return }
    externals.beginSave()
    if history == nil { externals.forgetImages() }
    externals.values.collect(backend)
  }
}

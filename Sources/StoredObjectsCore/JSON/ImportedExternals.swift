import StoreEngine

/// The large values of an import without classes, which are stored outside of records.
final class ImportedExternals {
  private let backend: any StoreBackend
  /// The values of the record that is being written.
  private var unowned: [ExternalReference] = []
  private var written: [(owner: ExternalCatalogue.Owner, values: [ExternalReference])] = []
  /// The rows whose values are replaced.
  private var replaced: [ExternalCatalogue.Owner] = []
  private var dropped: [ExternalID] = []

  init(_ backend: any StoreBackend) { self.backend = backend }

  /// Writes a large value to the storage.
  ///
  /// - Returns: The content for the record.
  func content(of bytes: [UInt8]) throws -> ExternalContent {
    guard bytes.count > StoreConfiguration.defaultExternalThreshold,
      let storage = backend.externalStorage
    else { return .inline(bytes) }
    var writer = try ExternalValueWriter(storage, .random())
    try writer.write(bytes)
    let reference = try writer.finish()
    unowned.append(reference)
    return .outside(reference)
  }

  /// Writes a value to the storage in pieces.
  ///
  /// - Returns: The content for the record, or nil if the text is not Base64.
  func content(of text: LargeText) throws -> ExternalContent? {
    guard let storage = backend.externalStorage else {
      return try text.decoded().map { .inline($0) }
    }
    var writer = try ExternalValueWriter(storage, .random())
    guard try text.forEachDecodedPiece({ try writer.write($0) }) else { return nil }
    let reference = try writer.finish()
    unowned.append(reference)
    return .outside(reference)
  }

  /// Assigns the values written since the last call to a row.
  func setOwner(_ owner: ExternalCatalogue.Owner, replaces: Bool) {
    if replaces { replaced.append(owner) }
    if unowned.isEmpty { return }
    written.append((owner, unowned))
    unowned = []
  }

  /// Adds the references from rows to values to a change set.
  func addChanges(to changes: inout ChangeSet) throws {
    if !replaced.isEmpty, let catalogue = try ExternalCatalogue.ifUsed(in: backend) {
      for owner in replaced {
        for value in try catalogue.values(of: owner) {
          catalogue.remove(value, of: owner, from: &changes)
          dropped.append(value)
        }
      }
    }
    if written.isEmpty { return }
    let catalogue = try ExternalCatalogue(backend)
    for (owner, values) in written {
      for value in values { catalogue.add(value, of: owner, to: &changes) }
    }
    try backend.externalStorage?.synchronize()
  }

  /// Removes values that no row refers to after a commit.
  func didCommit() throws {
    if !dropped.isEmpty {
      let catalogue = try ExternalCatalogue(backend)
      for value in dropped where try !catalogue.isReferenced(value) {
        try backend.externalStorage?.remove(value)
      }
    }
    (written, replaced, dropped) = ([], [], [])
  }

  /// Removes the values that were not committed.
  func discard() {
    for value in unowned + written.flatMap(\.values) {
      try? backend.externalStorage?.remove(value.id)
    }
    (unowned, written, replaced, dropped) = ([], [], [], [])
  }
}

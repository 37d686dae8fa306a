/// Values outside of records that a follower has received before the commit that refers to them.
struct ReceivedValues: Sendable {
  private var writing: Writing?
  private var whole: [ExternalID: ExternalReference] = [:]
  private var missing: Set<ExternalReference> = []

  private struct Writing: Sendable {
    let reference: ExternalReference
    /// The writer; nil for a value that the target already has.
    var writer: ExternalValueWriter?
    var byteCount = 0
  }

  /// Adds a part of a value.
  ///
  /// - Throws: ``StoreError`` with `damaged` for a part that is out of order, `invalidArgument` if
  ///   the target can't hold such values, `noSpace`, `ioError` or `closed`.
  mutating func add(
    _ reference: ExternalReference, _ offset: Int, _ bytes: [UInt8], to target: any StoreBackend
  ) throws(StoreError) {
    if offset == 0 { writing = try begin(reference, target) }
    guard var current = writing, current.reference == reference, current.byteCount == offset else {
      throw outOfOrder(reference, target)
    }
    writing = nil
    try current.writer?.write(bytes)
    current.byteCount += bytes.count
    guard current.byteCount == reference.byteCount else {
      writing = current
      return
    }
    if try current.writer?.finish() ?? reference != reference {
      try? storage(of: target).removeUnused(reference.id)
      throw outOfOrder(reference, target)
    }
    whole[reference.id] = reference
  }

  private func begin(
    _ reference: ExternalReference, _ target: any StoreBackend
  ) throws(StoreError) -> Writing {
    let storage = try storage(of: target)
    if try ExternalCatalogue(target).isReferenced(reference.id) || whole[reference.id] != nil {
      return Writing(reference: reference)
    }
    // A killed follower may have left all or a part of the value.
    try storage.removeUnused(reference.id)
    return Writing(reference: reference, writer: try ExternalValueWriter(storage, reference.id))
  }

  /// Adds a value that the source no longer has.
  mutating func addMissing(_ reference: ExternalReference) { missing.insert(reference) }

  /// Syncs the values before the commit that refers to them.
  ///
  /// - Throws: ``StoreError`` with `damaged` if one of them is missing from the stream.
  mutating func settle(
    _ references: [ExternalReference], of target: any StoreBackend
  ) throws(StoreError) {
    for reference in references
    where whole[reference.id] != reference && !missing.contains(reference) {
      let catalogue = try ExternalCatalogue.ifUsed(in: target)
      guard try catalogue?.isReferenced(reference.id) == true else {
        throw outOfOrder(reference, target)
      }
    }
    if !whole.isEmpty { try target.externalStorage?.synchronize() }
    (writing, whole, missing) = (nil, [:], [])
  }

  /// Syncs the values of a first copy.
  mutating func settleCopy(of target: any StoreBackend) throws(StoreError) {
    var needed: Set<ExternalReference> = []
    if let catalogue = try ExternalCatalogue.ifUsed(in: target) {
      try catalogue.forEach { reference, _ in needed.insert(reference) }
    }
    for reference in needed
    where whole[reference.id] != reference && !missing.contains(reference) {
      throw outOfOrder(reference, target)
    }
    if !whole.isEmpty { try target.externalStorage?.synchronize() }
    (writing, whole, missing) = (nil, [:], [])
  }

  /// Removes the values received for a skipped commit, unless rows refer to them.
  mutating func discard(from target: any StoreBackend) throws(StoreError) {
    if !whole.isEmpty {
      let (storage, catalogue) = (try storage(of: target), try ExternalCatalogue(target))
      for id in whole.keys where try !catalogue.isReferenced(id) { try storage.removeUnused(id) }
    }
    (writing, whole, missing) = (nil, [:], [])
  }

  private func storage(
    of target: any StoreBackend
  ) throws(StoreError) -> any ExternalStorage {
    if let storage = target.externalStorage { return storage }
    throw StoreError(
      .invalidArgument,
      """
      The followed store has values outside of records, which this backend can't hold. Use a \
      backend in a directory.
      """,
      at: .init(path: target.location))
  }

  private func outOfOrder(
    _ reference: ExternalReference, _ target: any StoreBackend
  ) -> StoreError {
    StoreError(
      .damaged,
      """
      The stream does not have the complete value \(reference.id) before the commit that refers to \
      it. Read the stream again from its source.
      """,
      at: .init(path: target.location))
  }
}

extension ExternalStorage {
  /// Removes a value to which no row refers, also in a store that processes share.
  fileprivate func removeUnused(_ id: ExternalID) throws(StoreError) {
    if let files = self as? ExternalFiles { return try files.removeStray(id) }
    try remove(id)
  }
}

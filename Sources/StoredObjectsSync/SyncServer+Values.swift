import StoreEngine
import StoredObjectsCore

/// The values that a device has sent, and the time of its last request.
struct WaitingValues {
  let values: IncomingValues
  var time: ContinuousClock.Instant
}

extension SyncServer {
  /// The maximum number of values that one request names.
  static let placeCount = 10_000

  // MARK: From devices

  /// Adds parts of values, and returns the number of bytes that the server has of each.
  func store(_ parts: [ValuePart], of device: SyncDevice) throws(StoreError) -> [Int] {
    try checkCount(parts.count)
    if let large = parts.first(where: { $0.reference.byteCount > limits.valueByteCount }) {
      throw StoreError(
        .tooLarge,
        """
        The value \(large.reference.id) has \(large.reference.byteCount) bytes, and the server \
        takes \(limits.valueByteCount). Raise SyncLimits.valueByteCount.
        """, at: .init(path: backend.location))
    }
    let incoming = incoming(of: device)
    var counts: [Int] = []
    for part in parts {
      let asksOnly = part.bytes.isEmpty && part.reference.byteCount > 0
      if !asksOnly, part.offset == 0 { try checkRoom(for: part.reference, incoming) }
      counts.append(
        asksOnly ? try incoming.count(of: part.reference) : try incoming.add(part))
    }
    return counts
  }

  private func checkCount(_ count: Int) throws(StoreError) {
    if count <= Self.placeCount { return }
    throw StoreError(
      .tooLarge, "A request names at most \(Self.placeCount) values.",
      at: .init(path: backend.location))
  }

  private func checkRoom(
    for reference: ExternalReference, _ incoming: IncomingValues
  ) throws(StoreError) {
    guard
      incoming.count >= limits.waitingCount
        || incoming.byteCount + reference.byteCount > limits.waitingByteCount
    else { return }
    throw StoreError(
      .tooLarge,
      """
      The device has sent too many values without the commits that refer to them. Make smaller \
      saves, or raise SyncLimits.waitingByteCount and waitingCount.
      """, at: .init(path: backend.location))
  }

  private func incoming(of device: SyncDevice) -> IncomingValues {
    let known = waiting[device]?.values ?? IncomingValues(backend)
    waiting[device] = WaitingValues(values: known, time: .now)
    return known
  }

  /// Removes values that have waited too long for their commits.
  func expireWaiting(at now: ContinuousClock.Instant = .now) {
    for (device, values) in waiting where now - values.time >= limits.waitingTime {
      values.values.releaseAll()
      waiting[device] = nil
    }
  }

  /// Releases the values of a device, whose commits are made.
  func releaseWaiting(of device: SyncDevice) { waiting[device]?.values.releaseWhole() }

  // MARK: In commits

  /// Makes a store check each reference that a record of a device has.
  func checkValues(of store: Store, from device: SyncDevice) {
    let incoming = waiting[device]?.values ?? IncomingValues(backend)
    let backend = backend
    store.valueTransfer = .checked { (reference) throws(StoreError) in
      if try incoming.isHere(reference) { return }
      // Another server of the same store may have received it.
      if try backend.isIntact(reference) { return }
      throw StoreError(
        .recordMissing,
        "The value \(reference.id) has not come before the commit. Nothing is lost: sync again.",
        at: .init(path: backend.location))
    }
  }

  /// Refuses records with values that no class of the server finds.
  func checkWritten(_ rest: RecordStates) throws(StoreError) {
    for name in rest.records.keys.sorted() where try backend.mayHaveExternals(name) {
      throw StoreError(
        .notRegistered,
        """
        The server's program does not know the class, or its layout, and can't find the values \
        outside of its records. Update the server's program.
        """, at: .init(path: backend.location, className: name))
    }
  }

  // MARK: To devices

  /// Returns parts of values to which rows, or the history, refer.
  func values(_ places: [ValuePlace], limit: Int) throws(StoreError) -> SyncAnswer {
    try checkCount(places.count)
    var (parts, missing, left) = ([ValuePart](), [ExternalReference](), max(1, limit))
    for place in places where left > 0 {
      guard let reader = try reader(of: place.reference) else {
        missing.append(place.reference)
        continue
      }
      let end = min(place.reference.byteCount, place.offset + left)
      let bytes = try reader.bytes(in: place.offset..<end)
      left -= bytes.count
      parts.append(ValuePart(place.reference, offset: place.offset, bytes))
    }
    return .values(parts, missing: missing)
  }

  private func reader(of reference: ExternalReference) throws(StoreError) -> ExternalReader? {
    let catalogue = try ExternalCatalogue.ifUsed(in: backend)
    guard try catalogue?.reference(to: reference.id) == reference else { return nil }
    return try backend.reader(of: reference)
  }
}

extension StoreBackend {
  /// Returns a reader of a value; nil if it is gone.
  func reader(of reference: ExternalReference) throws(StoreError) -> ExternalReader? {
    guard let storage = externalStorage else { return nil }
    do throws(StoreError) {
      return ExternalReader(try storage.open(reference), reference)
    } catch  where error.code == .recordMissing { return nil }
  }

  /// Whether all bytes of a value are there, and have the checksum of the reference.
  fileprivate func isIntact(_ reference: ExternalReference) throws(StoreError) -> Bool {
    do throws(StoreError) {
      guard var reader = try reader(of: reference) else { return false }
      while try reader.next() != nil {}
      return true
    } catch  where error.code == .damaged { return false }
  }
}

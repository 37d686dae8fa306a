import StoreEngine

/// Values outside of records that come in parts, before the commit that refers to them.
///
/// The parts of a value come in order, and at most one value is incomplete: a part of another value
/// drops it. A whole value is held until ``releaseWhole()``.
final class IncomingValues {
  private let backend: any StoreBackend
  private var whole: [ExternalID: ExternalValue] = [:]
  private var unfinished: Unfinished?
  /// The sizes of the whole values, and of the incomplete one.
  private(set) var byteCount = 0

  private struct Unfinished {
    let reference: ExternalReference
    var writer: ExternalValueWriter
    var count = 0
  }

  init(_ backend: any StoreBackend) { self.backend = backend }

  /// The number of values that are held.
  var count: Int { whole.count + (unfinished == nil ? 0 : 1) }

  /// Whether the store has a value, or it has come.
  ///
  /// - Throws: `StoreError` with `invalidArgument` if the ID is that of another value; `ioError` or
  ///   `closed`.
  func isHere(_ reference: ExternalReference) throws(StoreError) -> Bool {
    if let known = whole[reference.id]?.reference {
      guard known == reference else { throw other(reference) }
      return true
    }
    guard let known = try ExternalCatalogue(backend).reference(to: reference.id) else {
      return false
    }
    guard known == reference else { throw other(reference) }
    return try canOpen(reference)
  }

  /// Returns the number of bytes of a value that have come.
  ///
  /// - Throws: The errors of ``isHere(_:)``.
  func count(of reference: ExternalReference) throws(StoreError) -> Int {
    if try isHere(reference) { return reference.byteCount }
    return unfinished?.reference == reference ? unfinished?.count ?? 0 : 0
  }

  /// Adds a part, unless it is out of order.
  ///
  /// - Returns: The number of bytes of the value that have come.
  /// - Throws: `StoreError` with `damaged` if the checksum of the value is wrong, which drops it;
  ///   `invalidArgument` if the ID is that of another value, or the backend can't keep values;
  ///   `noSpace`, `ioError` or `closed`.
  func add(_ part: ValuePart) throws(StoreError) -> Int {
    let reference = part.reference
    if try isHere(reference) { return reference.byteCount }
    if unfinished?.reference != reference {
      guard part.offset == 0, !part.bytes.isEmpty || reference.byteCount == 0 else { return 0 }
      dropUnfinished()
      unfinished = Unfinished(reference: reference, writer: try begin(reference))
      byteCount += reference.byteCount
    }
    guard var current = unfinished, current.count == part.offset else {
      return unfinished?.count ?? 0
    }
    dropUnfinished()
    try current.writer.write(part.bytes)
    current.count += part.bytes.count
    byteCount += reference.byteCount
    if current.count < reference.byteCount {
      unfinished = current
      return current.count
    }
    try finish(&current)
    return reference.byteCount
  }

  private func finish(_ value: inout Unfinished) throws(StoreError) {
    let reference = value.reference
    do {
      if try value.writer.finish() == reference {
        whole[reference.id] = ExternalValue(reference, in: try values(), isNew: true)
        return
      }
      try values().storage.remove(reference.id)
    } catch {
      byteCount -= reference.byteCount
      throw error
    }
    byteCount -= reference.byteCount
    throw StoreError(
      .damaged,
      "The value \(reference.id) has come with another checksum. Nothing refers to it: try again.",
      at: .init(path: backend.location))
  }

  private func begin(_ reference: ExternalReference) throws(StoreError) -> ExternalValueWriter {
    let values = try values()
    let isListed = try ExternalCatalogue(backend).reference(to: reference.id) != nil
    guard isListed || !values.isHeld(reference.id) else {
      throw StoreError(
        .conflict, "Another device is sending the value \(reference.id): try again later.",
        at: .init(path: backend.location))
    }
    do throws(StoreError) {
      return try ExternalValueWriter(values.storage, reference.id)
    } catch  where error.code != .noSpace && error.code != .closed && error.code != .readOnly {
      // Bytes that nothing refers to any more, or that can't be read.
      try values.storage.remove(reference.id)
      return try ExternalValueWriter(values.storage, reference.id)
    }
  }

  private func dropUnfinished() {
    byteCount -= unfinished?.reference.byteCount ?? 0
    unfinished = nil
  }

  /// Releases the whole values, of which those are removed to which no row refers.
  func releaseWhole() {
    if whole.isEmpty { return }
    byteCount = unfinished?.reference.byteCount ?? 0
    whole = [:]
    backend.coordinator.externalValues(of: backend)?.collect(backend)
  }

  /// Drops everything, also the incomplete value.
  func releaseAll() {
    dropUnfinished()
    releaseWhole()
  }

  // MARK: The backend

  private func canOpen(_ reference: ExternalReference) throws(StoreError) -> Bool {
    do throws(StoreError) {
      _ = try values().storage.open(reference)
      return true
    } catch  where error.code == .recordMissing || error.code == .damaged { return false }
  }

  private func values() throws(StoreError) -> ExternalValues {
    if let values = backend.coordinator.externalValues(of: backend) { return values }
    throw StoreError(
      .invalidArgument,
      "The backend can't keep values outside of records: use one on a directory or a server.",
      at: .init(path: backend.location))
  }

  private func other(_ reference: ExternalReference) -> StoreError {
    StoreError(
      .invalidArgument, "The ID \(reference.id) belongs to another value of the store.",
      at: .init(path: backend.location))
  }
}

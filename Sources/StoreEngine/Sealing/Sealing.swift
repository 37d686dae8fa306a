import Files
import Locks

/// Seals and opens what an encrypted store has in its files.
///
///     ChangeSet --> names and records sealed, once --> commit log --> class files
///
/// Files and log see nothing else: a table has its sealed name, which is that of its file, a record
/// is sealed for its row, and a batch of the log is sealed as a whole around that.
package final class Sealing: Sendable {
  /// What does it.
  package let seal: any StoreSeal
  /// What stands for the names of tables in places; by number.
  private let scopes = Locked<[TableID: SealedLocation.Scope]>([:])

  package init(_ seal: any StoreSeal) { self.seal = seal }

  // MARK: Names

  /// The name under which the files have a table.
  package func fileName(ofTable name: String) throws(StoreError) -> String {
    if let reason = StoreDirectory.reason(againstTable: name) { throw invalid(name, reason) }
    guard name.utf8.count <= SealedName.maximumByteCount else {
      throw invalid(
        name, "it is longer than \(SealedName.maximumByteCount) bytes, and sealed names are longer")
    }
    return try sealed(name)
  }

  private func invalid(_ name: String, _ reason: String) -> StoreError {
    StoreError(.invalidName, "A class can't be stored under the name \"\(name)\": \(reason).")
  }

  /// The name under which the files have a buffer.
  package func key(ofBuffer name: String) throws(StoreError) -> String { try sealed(name) }

  private func sealed(_ name: String) throws(StoreError) -> String {
    SealedName.text(try seal.sealName(SealedName.padded(name)))
  }

  /// The name that a table, or a buffer, has for its users; nil when its name was not sealed by
  /// this store.
  package func name(_ sealed: String) -> String? {
    SealedName.bytes(sealed).flatMap { seal.openName($0) }.flatMap { SealedName.unpadded($0) }
  }

  // MARK: Records

  /// What stands for a table; its files' name for it is asked for once.
  package func scope<Failure: Error>(
    of table: TableID, fileName: () throws(Failure) -> String
  ) throws(Failure) -> SealedLocation.Scope {
    if let known = scopes.withLock({ $0[table] }) { return known }
    let scope = seal.scope(of: try fileName())
    scopes.withLock { $0[table] = scope }
    return scope
  }

  /// The place of a record.
  package func location(_ rowID: UInt32, in scope: SealedLocation.Scope) -> SealedLocation {
    SealedLocation(.record, in: scope, number: UInt64(rowID))
  }

  /// The place of a buffer.
  package func location(ofBuffer key: String) -> SealedLocation {
    SealedLocation(.buffer, in: seal.scope(of: key))
  }

  /// Appends what was sealed for a place.
  ///
  /// - Throws: ``StoreError`` with `notAuthentic`.
  package func open(
    _ sealed: RawSpan, _ location: SealedLocation, to bytes: inout [UInt8],
    _ error: () -> StoreError.Location
  ) throws(StoreError) {
    if !seal.open(sealed, at: location, to: &bytes) {
      throw StoreError(
        .notAuthentic,
        """
        This is not what the store has sealed here: it was changed, or comes from another place. \
        Restore a backup, or salvage the store without it.
        """,
        at: error())
    }
  }

  // MARK: Errors

  /// What users know a table by; nil when its name was not sealed by this store.
  package func title(_ sealed: String) -> String? {
    guard let ordered = OrderedTableName(fileName: sealed) else { return name(sealed) }
    return name(ordered.name).map { OrderedTableName($0, kind: ordered.kind).fileName }
  }

  /// An error of the files, by the names that their users know.
  package func naming(_ error: StoreError) -> StoreError {
    guard let sealed = error.location.className, let name = title(sealed) else { return error }
    var location = error.location
    location.className = name
    return StoreError(error.code, error.message, at: location, underlying: error.underlying)
  }

  /// A finding of the files, by the names that their users know.
  package func naming(_ finding: StoreFinding) -> StoreFinding {
    guard let sealed = finding.location.className, let name = title(sealed) else { return finding }
    var location = finding.location
    location.className = name
    return StoreFinding(finding.kind, finding.message, at: location)
  }
}

import Files
import Locks

/// The sealing of an encrypted store: it seals and opens everything in the files.
///
///     ChangeSet --> names and records sealed, once --> commit log --> class files
///
/// The files and the log see only sealed data. A table has its sealed name, which is the name of
/// its file. A record is sealed for its row. A batch of the log is sealed again as a whole.
package final class Sealing: Sendable {
  /// The seal that does the cryptography.
  package let seal: any StoreSeal
  /// The scopes of tables in locations, by table.
  private let scopes = Locked<[TableID: SealedLocation.Scope]>([:])

  package init(_ seal: any StoreSeal) { self.seal = seal }

  // MARK: Names

  /// Returns the name of a table in the files.
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

  /// Returns the name of a buffer in the files.
  package func key(ofBuffer name: String) throws(StoreError) -> String { try sealed(name) }

  private func sealed(_ name: String) throws(StoreError) -> String {
    SealedName.text(try seal.sealName(SealedName.padded(name)))
  }

  /// Returns the user-visible name of a table or a buffer; nil if this store did not seal it.
  package func name(_ sealed: String) -> String? {
    SealedName.bytes(sealed).flatMap { seal.openName($0) }.flatMap { SealedName.unpadded($0) }
  }

  // MARK: Records

  /// Returns the scope of a table, and asks for its file name only the first time.
  package func scope<Failure: Error>(
    of table: TableID, fileName: () throws(Failure) -> String
  ) throws(Failure) -> SealedLocation.Scope {
    if let known = scopes.withLock({ $0[table] }) { return known }
    let scope = seal.scope(of: try fileName())
    scopes.withLock { $0[table] = scope }
    return scope
  }

  /// Returns the location of a record.
  package func location(_ rowID: UInt32, in scope: SealedLocation.Scope) -> SealedLocation {
    SealedLocation(.record, in: scope, number: UInt64(rowID))
  }

  /// Returns the location of a buffer.
  package func location(ofBuffer key: String) -> SealedLocation {
    SealedLocation(.buffer, in: seal.scope(of: key))
  }

  /// Opens bytes that were sealed for a location, and appends the content.
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
        This is not what the store has sealed here: it was changed or moved. Restore a backup, or \
        salvage the store without it.
        """,
        at: error())
    }
  }

  // MARK: Errors

  /// Returns the user-visible title of a table; nil if this store did not seal its name.
  package func title(_ sealed: String) -> String? {
    guard let ordered = OrderedTableName(fileName: sealed) else { return name(sealed) }
    return name(ordered.name).map { OrderedTableName($0, kind: ordered.kind).fileName }
  }

  /// Returns an error of the files with user-visible names.
  package func naming(_ error: StoreError) -> StoreError {
    guard let sealed = error.location.className, let name = title(sealed) else { return error }
    var location = error.location
    location.className = name
    return StoreError(error.code, error.message, at: location, underlying: error.underlying)
  }

  /// Returns a finding of the files with user-visible names.
  package func naming(_ finding: StoreFinding) -> StoreFinding {
    guard let sealed = finding.location.className, let name = title(sealed) else { return finding }
    var location = finding.location
    location.className = name
    return StoreFinding(finding.kind, finding.message, at: location)
  }
}

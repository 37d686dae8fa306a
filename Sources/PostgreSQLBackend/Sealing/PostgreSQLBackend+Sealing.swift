import Files
import FoundationEssentials
import Locks
public import StoreEngine

// The differences of an encrypted store: names and bytes are sealed for the server, and opened
// again.
extension PostgreSQLBackend {
  /// Returns the server's name for a table.
  func serverName(of table: TableID) throws(StoreError) -> String {
    let name = name(of: table)
    guard let sealing else { return name }
    return try sealing.name(ofTable: name)
  }

  /// Returns the server's name for an ordered table.
  func serverName(of table: OrderedTableID) throws(StoreError) -> OrderedTableName {
    let name = name(of: table)
    guard let sealing else { return name }
    return OrderedTableName(try sealing.name(ofTable: name.name), kind: name.kind)
  }

  /// Returns the server's name for a buffer.
  func serverName(ofBuffer name: String) throws(StoreError) -> String {
    guard let sealing else { return name }
    return try sealing.name(ofBuffer: name)
  }

  /// Returns the server's form of a key.
  func serverKey(_ key: [UInt8], of table: OrderedTableID) throws(StoreError) -> [UInt8] {
    guard let sealing else { return key }
    return try sealing.key(key, of: name(of: table))
  }

  /// Returns the server's form of the author of a commit.
  func serverAuthor(_ commit: Commit) throws(StoreError) -> [UInt8] {
    guard let sealing else { return Array(commit.author.utf8) }
    return try sealing.author(commit.author, of: commit.token)
  }

  /// Returns the name of a table or buffer from the server's name.
  func opened(_ name: String) throws(ServerFailure) -> String {
    guard let sealing else { return name }
    return try sealing.opened(name)
  }

  /// Calls a closure with a record of the server, which is opened for an encrypted store.
  func lendRecord<Result>(
    _ stored: RawSpan, _ rowID: UInt32, _ table: TableID,
    _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let sealing else { return try body(stored) }
    let record = try sealing.open(stored, rowID, table, named: name(of: table))
    return try record.lend(body)
  }

  /// Changes the key, or passphrase, of an encrypted store.
  ///
  /// This changes only how the store's own key is sealed. Records remain as they are, and programs
  /// that have the store open continue.
  ///
  /// Complexity: two round trips, and the time of the costs of both keys.
  ///
  /// - Parameters:
  ///   - connection: A connection string of libpq.
  ///   - store: The name of the store.
  ///   - oldKey: The present key of the store.
  ///   - newKey: The new key of the store.
  /// - Throws: ``/StoreEngine/StoreError`` with `notEncrypted`, `wrongKey`, `conflict` (another
  ///   program has changed the key meanwhile), `invalidArgument`, `damaged` or `ioError`.
  public static func changeKey<Key: StoreKey>(
    _ connection: String, store: String, from oldKey: Key, to newKey: Key
  ) throws(StoreError) {
    try checkStoreName(store)
    let configuration = PostgreSQLConfiguration()
    let target = try ConnectionTarget(connection, store: store, configuration)
    let pool = ConnectionPool(target, configuration)
    defer { pool.close() }
    func run(_ text: String, _ parameters: [Parameter]) throws(StoreError) -> QueryResult {
      do throws(ServerFailure) {
        return try pool.withConnection { (connection) throws(ServerFailure) in
          try connection.run([Statement(text, parameters)])[0]
        }
      } catch { throw error.error(at: target.location) }
    }
    let found = try run(
      "select key_file from stored_objects.stores where name = $1", [.text(store)])
    guard found.rowCount > 0, !found.isNull(0, 0) else {
      throw StoreError(
        .notEncrypted, "The store has no key to change.", at: .init(path: target.location))
    }
    let old = found.bytes(0, 0)
    let new = try Sealing.naming(target.location) { () throws(StoreError) in
      try oldKey.rewrap(KeyFile.content(old, path: target.location), for: newKey)
    }
    let changed = try run(
      """
      update stored_objects.stores set key_file = $3 where name = $1 and key_file = $2 returning id
      """, [.text(store), .bytes(old), .bytes(KeyFile.bytes(new))])
    guard changed.rowCount == 0 else { return }
    throw StoreError(
      .conflict, "Another program has changed the key meanwhile.", at: .init(path: target.location))
  }
}

import Files
import StoreEngine

/// Finds a store in a database, or creates it.
struct StoreOpening {
  let storeID: Int32
  let last: Commit?
  /// Seals the data for the server; nil for a store that is not encrypted.
  let sealing: ServerSealing?
  /// Whether the store follows another one.
  let follows: Bool
  /// Whether the store keeps a history.
  let keepsHistory: Bool

  /// The number of attempts if another program creates the schema at the same moment.
  private static let attempts = 8

  init(
    _ pool: ConnectionPool, _ store: String, _ key: (any StoreKey)?, at location: String,
    isReadOnly: Bool
  ) throws(StoreError) {
    var found = try Self.find(pool, store, at: location, isReadOnly)
    if found.isNew, let key, !isReadOnly {
      let keyFile = KeyFile.bytes(try key.makeSeal().keyFile)
      try Self.setKeyFile(keyFile, of: store, pool, at: location)
      found = try Self.find(pool, store, at: location, isReadOnly)
    }
    storeID = found.storeID
    (follows, keepsHistory) = (found.result.bool(0, 8), found.result.bool(0, 9))
    let sealing = try Self.sealing(found.keyFile, key, at: location)
    self.sealing = sealing
    do throws(ServerFailure) {
      last = try Commit.last(found.result, 1, sealing)
    } catch { throw error.error(at: location) }
  }

  /// Returns the seal of a store.
  ///
  /// - Throws: `StoreError` with `encrypted`, `notEncrypted`, `wrongKey` or `damaged`.
  private static func sealing(
    _ keyFile: [UInt8]?, _ key: (any StoreKey)?, at location: String
  ) throws(StoreError) -> ServerSealing? {
    guard let keyFile else {
      if key == nil { return nil }
      throw StoreError(
        .notEncrypted,
        "The store is not encrypted: open it without a key, or copy it to one that is.",
        at: .init(path: location))
    }
    guard let key else {
      throw StoreError(
        .encrypted, "The store is encrypted: open it with its key.", at: .init(path: location))
    }
    return ServerSealing(try Sealing.seal(keyFile, key, location), at: location)
  }

  /// Encrypts a store that is still empty, unless another program has begun to use it meanwhile.
  private static func setKeyFile(
    _ keyFile: [UInt8], of store: String, _ pool: ConnectionPool, at location: String
  ) throws(StoreError) {
    let statement = Statement(
      """
      update stored_objects.stores set key_file = $2
      where name = $1 and key_file is null and last_commit = 0
      """, [.text(store), .bytes(keyFile)])
    do throws(ServerFailure) {
      _ = try pool.withConnection { (connection) throws(ServerFailure) in
        try connection.run([statement])
      }
    } catch { throw error.error(at: location) }
  }

  private static func find(
    _ pool: ConnectionPool, _ store: String, at location: String, _ isReadOnly: Bool
  ) throws(StoreError) -> FoundStore {
    var (attemptsLeft, waiting) = (Self.attempts, Backoff(.seconds(10)))
    while true {
      let found: Found
      do throws(ServerFailure) {
        found = try pool.withConnection { (connection) throws(ServerFailure) in
          try Self.open(connection, store, isReadOnly)
        }
      } catch {
        attemptsLeft -= 1
        guard attemptsLeft > 0, error.isOfRace || error.isTransient, waiting.pause() else {
          throw error.error(at: location)
        }
        continue
      }
      return try found.get(location)
    }
  }

  /// The data of a store in the database.
  private struct FoundStore {
    let storeID: Int32
    let keyFile: [UInt8]?
    /// Whether the store has no commits and is not encrypted.
    let isNew: Bool
    let result: QueryResult

    init(_ result: QueryResult) throws(ServerFailure) {
      self.result = result
      storeID = Int32(clamping: try result.number(0, 0))
      keyFile = result.isNull(0, 7) ? nil : result.bytes(0, 7)
      isNew = try result.number(0, 1) == 0 && keyFile == nil
    }
  }

  /// The result of looking for the store.
  private enum Found {
    case store(FoundStore)
    case noStore
    case otherEncoding(String)
    case newerVersion(Int64)
    case olderVersion
    case noSchema

    func get(_ location: String) throws(StoreError) -> FoundStore {
      if case .store(let opened) = self { return opened }
      let (code, message): (StoreError.Code, String) =
        switch self {
        case .store, .noStore: (.ioError, "The database has no store of this name.")
        case .noSchema: (.ioError, "The database has no stores: open one for writing first.")
        case .olderVersion:
          (
            .ioError,
            "The tables are of an earlier release: open a store for writing first, which upgrades them."
          )
        case .otherEncoding(let name):
          (.ioError, "The database is in \(name): create one with the encoding UTF8.")
        case .newerVersion(let version):
          (
            .newerVersion,
            """
            The tables are of version \(version), and this program knows \(Schema.version): use a \
            later release of the package.
            """
          )
        }
      throw StoreError(code, message, at: .init(path: location))
    }
  }

  private static func open(
    _ connection: Connection, _ store: String, _ isReadOnly: Bool
  ) throws(ServerFailure) -> Found {
    let encoding = connection.setting("server_encoding")
    guard encoding == "UTF8" else { return .otherEncoding(encoding) }
    var known = try version(connection)
    if known == nil { known = try create(connection, isReadOnly) }
    guard let version = known else { return .noSchema }
    guard version <= Schema.version else { return .newerVersion(version) }
    if version < Schema.version {
      if isReadOnly { return .olderVersion }
      try upgrade(connection, from: version)
    }
    let creation = Statement(
      "insert into stored_objects.stores (name) values ($1) on conflict do nothing", [.text(store)])
    let search = Statement(
      """
      select s.id, coalesce(c.number, s.last_commit), c.number, c.token, c.author, c."time", c.based_on,
        s.key_file, s.follows, s.history is not null
      from stored_objects.stores s
        \(Schema.withLastCommit)
      where s.name = $1
      """, [.text(store)])
    var result = try connection.run([search])[0]
    if result.rowCount == 0, !isReadOnly { result = try connection.run([creation, search])[1] }
    if result.rowCount == 0 { return .noStore }
    return .store(try FoundStore(result))
  }

  private static func upgrade(
    _ connection: Connection, from version: Int64
  ) throws(ServerFailure) {
    do throws(ServerFailure) {
      _ = try connection.run(Schema.upgrade(from: version))
    } catch {
      connection.runWithoutWaiting(Statement("rollback"))
      throw error
    }
  }

  /// Returns the version of the schema; nil if there is none.
  private static func version(_ connection: Connection) throws(ServerFailure) -> Int64? {
    let statement = Statement("select version from stored_objects.schema_version")
    do throws(ServerFailure) {
      return try connection.run([statement])[0].number(0, 0)
    } catch {
      // The table does not exist.
      if case .refused("42P01", _) = error { return nil }
      throw error
    }
  }

  private static func create(
    _ connection: Connection, _ isReadOnly: Bool
  ) throws(ServerFailure) -> Int64? {
    if isReadOnly { return nil }
    _ = try connection.run(Schema.creation)
    return Int64(Schema.version)
  }
}

extension ServerFailure {
  /// Whether another program has created the same object at the same moment.
  fileprivate var isOfRace: Bool {
    guard case .refused(let state, _) = self else { return false }
    // Duplicate keys, tables, columns, schemas, functions and types; a row of the system catalogue
    // was updated.
    return ["23505", "42P07", "42701", "42P06", "42723", "42710", "XX000"].contains(state)
  }
}

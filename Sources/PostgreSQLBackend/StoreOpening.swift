import Files
import StoreEngine

/// Finds a store in a database, or creates it.
struct StoreOpening {
  let storeID: Int32
  let last: Commit?

  /// So often the schema is looked for again when another program has created it at the same moment.
  private static let attempts = 8

  init(
    _ pool: ConnectionPool, _ store: String, at location: String, isReadOnly: Bool
  ) throws(StoreError) {
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
      self = try found.get(location)
      return
    }
  }

  private init(_ storeID: Int32, _ last: Commit?) { (self.storeID, self.last) = (storeID, last) }

  /// The result of looking for the store.
  private enum Found {
    case store(StoreOpening)
    case noStore
    case otherEncoding(String)
    case newerVersion(Int64)
    case noSchema

    func get(_ location: String) throws(StoreError) -> StoreOpening {
      if case .store(let opened) = self { return opened }
      let (code, message): (StoreError.Code, String) =
        switch self {
        case .store, .noStore: (.ioError, "The database has no store of this name.")
        case .noSchema: (.ioError, "The database has no stores: open one for writing first.")
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
    let creation = Statement(
      "insert into stored_objects.stores (name) values ($1) on conflict do nothing", [.text(store)])
    let search = Statement(
      """
      select s.id, s.last_commit, c.number, c.token, c.author, c."time", c.based_on
      from stored_objects.stores s
        left join stored_objects.commits c on c.store = s.id and c.number = s.last_commit
      where s.name = $1
      """, [.text(store)])
    var result = try connection.run([search])[0]
    if result.rowCount == 0, !isReadOnly { result = try connection.run([creation, search])[1] }
    if result.rowCount == 0 { return .noStore }
    let last = try Commit.last(result, 1)
    return .store(StoreOpening(Int32(clamping: try result.number(0, 0)), last))
  }

  /// The version of the schema; nil where there is none.
  private static func version(_ connection: Connection) throws(ServerFailure) -> Int64? {
    let statement = Statement("select version from stored_objects.schema_version")
    do throws(ServerFailure) {
      return try connection.run([statement])[0].number(0, 0)
    } catch {
      // No such table.
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
  /// Whether another program has created the same at the same moment.
  fileprivate var isOfRace: Bool {
    guard case .refused(let state, _) = self else { return false }
    // Duplicate keys, tables, schemas, functions and types; a row of the catalogue was updated.
    return ["23505", "42P07", "42P06", "42723", "42710", "XX000"].contains(state)
  }
}

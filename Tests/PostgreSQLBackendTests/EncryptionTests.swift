import Files
import Foundation
import KeyValueStoreCore
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

/// A key that costs nothing to derive.
private let key = EncryptionKey(bytes: (0..<32).map { UInt8($0) })
private let otherKey = EncryptionKey(bytes: (0..<32).map { UInt8($0) + 1 })

@Suite("Encrypted stores on PostgreSQL", .needsServer)
struct EncryptionTests {
  @Test("An encrypted store keeps the promises of a backend", arguments: TestDatabase.checks)
  func conformance(_ check: BackendConformance.Check) throws {
    try check.run(try TestDatabase(key: key))
  }

  @Test("After hundreds of random operations an encrypted store equals a model of plain values")
  func randomOperations() throws {
    var random = Seeds.generator(for: "random operations, encrypted PostgreSQL")
    try RandomStoreTest(seed: random.next(), steps: 250).run(try TestDatabase(key: key))
  }

  @Test(
    "No table of the server has readable names, records, keys, values or authors",
    arguments: [false, true])
  func leaks(isEncrypted: Bool) throws {
    let database = try TestDatabase(key: isEncrypted ? key : nil)
    let name = try database.newDatabase()
    let backend = try database.backend(database: name)
    try backend.beginHistory()
    let secrets = [
      "class", "record", "buffer", "content", "index", "key", "value", "author", "external",
    ]
    .map { "\($0)-secret" }
    func bytes(_ index: Int) -> [UInt8] { Array(secrets[index].utf8) }
    var changes = ChangeSet(bytes: bytes(1) + bytes(3))
    let (record, content) = (0..<bytes(1).count, bytes(1).count..<changes.bytes.count)
    changes.tables = [
      .init(
        table: try backend.table(named: secrets[0]),
        records: [.init(kind: .insert, rowID: 2, range: record)])
    ]
    changes.names = [.init(name: secrets[2], range: content)]
    let index = try backend.orderedTable(OrderedTableName(secrets[4], kind: .data))
    changes.set(bytes(5), to: bytes(6), in: index)
    changes.set(bytes(5) + [1], to: [], in: index)
    try backend.commit(changes, CommitRequest(author: secrets[7]))
    let external = try #require(try backend.externalStorage?.create(.random()))
    try external.append(bytes(8))
    try external.finish()
    let store = try KeyValueStore(backend: backend)
    try store.createTable(secrets[0]).put(secrets[6], for: secrets[5], expiresAfter: .seconds(999))
    let found = try Self.found(secrets, in: name, database.server)
    // So is the history: its entries have all of it, before and after a commit.
    #expect(try !HistoryWalk.numbers(backend).isEmpty)
    // Without a key all of it is there: so the search would have found it.
    #expect(found == (isEncrypted ? [] : Set(secrets)))
    #expect(try store.table(secrets[0]).get(secrets[5], as: String.self) == secrets[6])
  }

  /// The texts that are readable in any column of any table.
  private static func found(
    _ secrets: [String], in database: String, _ server: TestServer
  ) throws -> Set<String> {
    let tables = try server.sql(
      "select table_name from information_schema.tables where table_schema = 'stored_objects'",
      database: database
    ).split(separator: "\n")
    #expect(tables.count >= 7)
    let rows = try tables.map {
      try server.sql("select t::text from stored_objects.\($0) t", database: database)
    }.joined()
    // Columns of bytes are hexadecimal.
    return Set(
      secrets.filter { secret in
        let digits = secret.utf8.map { String(format: "%02x", $0) }.joined()
        return rows.contains(secret) || rows.contains(digits)
      })
  }

  @Test("A store opens with its own key only, and explains other keys")
  func keys() throws {
    let database = try TestDatabase(key: key)
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    func code(_ store: String, _ key: EncryptionKey?) -> StoreError.Code? {
      storeError { _ = try PostgreSQLBackend(database.server.url(), store: store, key: key) }?.code
    }
    #expect(code(database.store, otherKey) == .wrongKey)
    #expect(code(database.store, nil) == .encrypted)
    #expect(code(database.store, key) == nil)
    let plain = try TestDatabase()
    let other = try plain.backend()
    try other.commit(change(.insert, 2, [1], try other.table(named: "Song")))
    #expect(code(plain.store, key) == .notEncrypted)
    let url = database.server.url()
    #expect(
      storeError {
        try PostgreSQLBackend.changeKey(url, store: plain.store, from: key, to: otherKey)
      }?.code == .notEncrypted)
    #expect(
      storeError {
        try PostgreSQLBackend.changeKey(url, store: database.store, from: otherKey, to: key)
      }?.code == .wrongKey)
    try PostgreSQLBackend.changeKey(url, store: database.store, from: key, to: otherKey)
    #expect(code(database.store, key) == .wrongKey)
    #expect(code(database.store, otherKey) == nil)
    // The records are sealed with what they were.
    try backend.commit(change(.update, 2, [2], table))
    let again = try PostgreSQLBackend(url, store: database.store, key: otherKey)
    #expect(try again.record(2, in: try again.table(named: "Song")) == [2])
  }

  @Test(
    "Programs that create a store concurrently with a key share it, and one without it is refused")
  func race() throws {
    let database = try TestDatabase(key: key)
    let plain = try PostgreSQLBackend(database.server.url(), store: database.store)
    try BackendConformance.runOnThreads(4) { number in
      let backend = try database.backend()
      let table = try backend.table(named: "Song")
      try backend.commit(change(.insert, UInt32(number) + 2, [UInt8(number)], table))
    }
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    for number in 0..<4 {
      #expect(try backend.record(UInt32(number) + 2, in: table) == [UInt8(number)])
    }
    let error = storeError {
      try plain.commit(change(.insert, 9, [1], try plain.table(named: "Song")))
    }
    #expect(error?.code == .encrypted)
    #expect(backend.lastCommitNumber == 4)
  }

  @Test("Data moved or changed in the database is not authentic")
  func manipulation() throws {
    let database = try TestDatabase(key: key)
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try backend.commit(change(.insert, 3, [2], table))
    let index = try backend.orderedTable(OrderedTableName("Index", kind: .data))
    var changes = ChangeSet()
    for number in UInt8(1)...2 { changes.set([number], to: [number], in: index) }
    try backend.commit(changes)
    let tables = """
      (select t.id from stored_objects.tables t join stored_objects.stores s on s.id = t.store
        where s.name = '\(database.store)')
      """
    try database.server.sql(
      """
      update stored_objects.records r set data = o.data from stored_objects.records o
        where o.table_id = r.table_id and o.row <> r.row and r.table_id in \(tables);
      update stored_objects.keys k set value = o.value from stored_objects.keys o
        where o.table_id = k.table_id and o.head <> k.head and k.table_id in \(tables)
      """)
    #expect(storeError { _ = try backend.record(2, in: table) }?.code == .notAuthentic)
    #expect(
      storeError { _ = try backend.withValue(of: [1], in: index) { _ in } }?.code == .notAuthentic)
    #expect(
      storeError {
        _ = try backend.scanKeys(of: index, KeyRange(), isReversed: false) { _, _ in .next }
      }?.code == .notAuthentic)
  }

  @Test("Ranges of keys are right while another machine changes them", arguments: [false, true])
  func ranges(isReversed: Bool) throws {
    var random = Seeds.generator(for: "ranges of encrypted keys, \(isReversed)")
    let database = try TestDatabase(key: key)
    let backends = [try database.backend(), try database.backend()]
    let name = OrderedTableName("Index", kind: .data)
    var model: [[UInt8]: [UInt8]] = [:]
    for step in 0..<60 {
      let backend = backends[.random(in: 0...1, using: &random)]
      let table = try backend.orderedTable(name)
      var changes = ChangeSet()
      if step % 20 == 19 {
        changes.clear(table)
        model = [:]
      }
      for _ in 0..<[1, 3, 40][step % 3] {
        let key = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          UInt8.random(in: 0...5, using: &random)
        }
        let value = Bool.random(using: &random) ? [UInt8(step)] : nil
        changes.set(key, to: value, in: table)
        model[key] = value
      }
      try backend.commit(changes)
      let reader = backends[.random(in: 0...1, using: &random)]
      let range = KeyRange(
        from: [.random(in: 0...3, using: &random)],
        to: Bool.random(using: &random) ? [.random(in: 2...6, using: &random)] : nil)
      var wanted = model.filter { range.contains($0.key) }.sorted {
        $0.key.lexicographicallyPrecedes($1.key)
      }
      if isReversed { wanted.reverse() }
      var found: [([UInt8], [UInt8])] = []
      let readTable = try reader.orderedTable(name)
      _ = try reader.scanKeys(of: readTable, range, isReversed: isReversed) { key, value in
        found.append(([UInt8](copying: key), [UInt8](copying: value)))
        return .next
      }
      #expect(found.map(\.0) == wanted.map(\.key), "step \(step)")
      #expect(found.map(\.1) == wanted.map(\.value), "step \(step)")
      #expect(try reader.keyCount(in: readTable, range) == wanted.count)
    }
  }

  @Test("Encrypted key-value stores lose no increment, and observers read values of other machines")
  func keyValueStores() async throws {
    let database = try TestDatabase(key: key)
    var configuration = PostgreSQLConfiguration()
    configuration.pollInterval = .milliseconds(5)
    let store = try KeyValueStore(backend: try database.backend(configuration))
    var changes = store.changes().makeAsyncIterator()
    try BackendConformance.runOnThreads(3) { _ in
      let store = try KeyValueStore(backend: try database.backend())
      let table = try store.createTable("counts")
      for _ in 0..<50 {
        try store.write { batch in
          let count = try batch.get("count", from: table, as: Int.self) ?? 0
          try batch.put(count + 1, for: "count", in: table)
        }
      }
    }
    #expect(try store.table("counts").get("count", as: Int.self) == 150)
    var found: [String] = []
    while found.count < 151, let change = await changes.next() {
      found.append("\(change.kind) \(change.key ?? "-")")
    }
    #expect(found == ["created -"] + Array(repeating: "put count", count: 150))
  }
}

import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

@testable import PostgreSQLBackend

/// Small commits whose basis others have not changed take a short way.
///
/// The functions that execute them leave out lists that the other one stores empty, by which these
/// tests tell them apart.
@Suite("Small commits whose basis others have not changed", .needsServer)
struct SmallCommitTests {
  /// The numbers of the commits that took the short way.
  private func shortNumbers(_ database: TestDatabase) throws -> [Int] {
    try database.server.sql(
      """
      select c.number from stored_objects.commits c join stored_objects.stores s on s.id = c.store
      where s.name = '\(database.store)' and c.names is null and c.rows is not null order by 1
      """
    ).split(separator: "\n").compactMap { Int($0) }
  }

  @Test(
    "Commits of rows and keys take the short way in one round trip, and leave what they should",
    arguments: TestDatabase.keys)
  func changes(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let backend = try database.backend(through: proxy)
    let (songs, albums) = (try backend.table(named: "Song"), try backend.table(named: "Album"))
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    let titles = try backend.orderedTable(OrderedTableName("Titles", kind: .index))
    var first = ChangeSetBuilder()
    for table in [songs, albums] { first.insert(2, in: table, [1]) }
    first.set([1], to: [1], in: words)
    first.set([1], to: [], in: titles)
    try backend.commit(first.changeSet)
    var (rows, keys, both) = (ChangeSetBuilder(), ChangeSetBuilder(), ChangeSetBuilder())
    rows.insert(4, in: songs, [4])
    rows.update(2, in: songs, [3])
    rows.delete(2, in: albums)
    keys.set([1], to: nil, in: words)
    keys.set([2], to: [2], in: words)
    keys.set([3], to: nil, in: words)
    both.insert(9, in: albums, [9])
    both.set(Array(repeating: 7, count: 1500), to: [7], in: words)
    both.set([2], to: [], in: titles)
    let all = [
      change(.insert, 3, [3], songs), change(.update, 3, [4], songs), change(.delete, 3, [], songs),
      rows.changeSet, keys.changeSet, both.changeSet,
    ]
    for changes in all {
      proxy.roundTrips = 0
      let token = UUID()
      let commit = try backend.commit(changes, CommitRequest(token: token, author: "someone"))
      #expect(proxy.roundTrips == 1)
      #expect(try database.backend().commit(withToken: token) == commit)
    }
    #expect(try shortNumbers(database) == Array(2...7))
    var image = StoreImage()
    image.set("Song", 2, [3])
    image.set("Song", 4, [4])
    image.set("Album", 9, [9])
    image.set([2], to: [2], in: OrderedTableName("Words", kind: .data))
    image.set(
      Array(repeating: 7, count: 1500), to: [7], in: OrderedTableName("Words", kind: .data))
    for key in UInt8(1)...2 {
      image.set([key], to: [], in: OrderedTableName("Titles", kind: .index))
    }
    #expect(image.differences(from: try StoreImage(of: backend)) == [])
    let summary = try database.backend().changes(since: 2)
    #expect(summary.number == 7 && summary.tables.count == 2)
  }

  @Test("Saves of objects take the short way, with the metadata of their class, too")
  func saves() throws {
    let database = try TestDatabase()
    let backend = try database.backend()
    let store = Store(backend: backend)
    try store.register(Song.self)
    store.insert(Song())
    try store.saveChanges()
    let first = backend.lastCommitNumber
    for _ in 0..<100 {
      store.insert(Song())
      try store.saveChanges()
    }
    #expect(try shortNumbers(database).count == 100)
    #expect(backend.lastCommitNumber == first + 100)
    let other = Store(backend: try database.backend())
    try other.register(Song.self)
    #expect(try other.count(of: Song.self) == 101)
    other.insert(Song())
    try other.saveChanges()
    #expect(try other.check().isSound)
  }

  @Test("Rows that are missing or exist are judged as on the other way")
  func rowsOfOthers() throws {
    let database = try TestDatabase()
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    for (changes, code) in [
      (change(.insert, 2, [2], table), .rowExists), (change(.update, 3, [3], table), nil),
      (change(.delete, 9, [], table), nil),
    ] as [(ChangeSet, StoreError.Code?)] {
      // So that the next one is an attempt again.
      backend.smallAttempts.withLock { $0 = SmallAttempts() }
      try backend.commit(change(.update, 2, [1], table))
      let error = storeError { try backend.commit(changes) }
      #expect(error?.code == code)
    }
    #expect(try backend.recordCount(in: table) == 2)
    #expect(try backend.record(2, in: table) == [1] && backend.record(3, in: table) == [3])
    #expect(try !shortNumbers(database).isEmpty)
  }

  @Test("An earlier commit with the same token is found, and the commit is not made again")
  func repeatedToken() throws {
    let database = try TestDatabase()
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    let request = CommitRequest(token: UUID())
    let commit = try backend.commit(change(.update, 2, [2], table), request)
    for number in UInt8(3)..<6 { try backend.commit(change(.update, 2, [number], table)) }
    #expect(try shortNumbers(database) == Array(2...5))
    let repeated = try backend.commit(change(.update, 2, [9], table), request)
    #expect(repeated?.number == commit?.number)
    #expect(backend.lastCommitNumber == 5)
    #expect(try backend.record(2, in: table) == [5])
  }

  @Test("While others commit, each commit brings their changes in the same round trip")
  func others() throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let (mine, theirs) = (try database.backend(through: proxy), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    try mine.commit(change(.insert, 2, [0], table))
    try theirs.commit(change(.insert, 3, [0], theirTable))
    proxy.roundTrips = 0
    for number in UInt8(0)..<60 {
      try theirs.commit(change(.update, 3, [number], theirTable))
      try mine.commit(change(.update, 2, [number], table))
      #expect(mine.coordinator.journal.lastNumber == 4 + 2 * UInt64(number))
    }
    // The first one didn't expect others. The proxy may see some of the second transactions of
    // requests separately.
    #expect((61..<100).contains(proxy.roundTrips))
    // The first commits of the two processes create the table, or know no commit.
    #expect(try shortNumbers(database) == Array(3...122))
    try mine.commit(change(.update, 2, [0], table))
    proxy.roundTrips = 0
    for number in UInt8(1)..<130 { try mine.commit(change(.update, 2, [number], table)) }
    #expect(proxy.roundTrips == 129)
    #expect(try shortNumbers(database) == Array(3...252))
    #expect(try theirs.record(2, in: theirTable) == [129])
    #expect(theirs.lastCommitNumber == 252)
  }

  @Test("While commits conflict with those of others, few attempts are made")
  func attempts() throws {
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let (mine, theirs) = (try database.backend(through: proxy), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    try mine.commit(change(.insert, 2, [0], table))
    proxy.roundTrips = 0
    for number in UInt8(0)..<60 {
      try theirs.commit(change(.update, 2, [number], theirTable))
      let basis = CommitBasis(upTo: mine.coordinator.journal.lastNumber)
      let error = storeError {
        try mine.commit(change(.update, 2, [0], table), CommitRequest(basis: basis))
      }
      #expect(error?.code == .conflict)
    }
    // The first one, and after 1, 3, 7 and 15 others.
    #expect(proxy.roundTrips == 65)
    #expect(try theirs.record(2, in: theirTable) == [59])
  }

  @Test(
    "Connections that are lost after the commit, before the changes of others, lose nothing",
    arguments: [1, 2, 5], [false, true])
  func lostNews(count: Int, isFirst: Bool) throws {
    let database = try TestDatabase()
    let name = try database.newDatabase()
    let (mine, theirs) = (
      try database.backend(database: name), try database.backend(database: name)
    )
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    try mine.commit(change(.insert, 2, [0], table))
    func both(_ byte: UInt8) throws {
      try theirs.commit(change(.update, 3, [byte], theirTable))
      try mine.commit(change(.update, 2, [byte], table))
    }
    try theirs.commit(change(.insert, 3, [0], theirTable))
    // After these, a commit asks for the changes of others with the same request.
    if !isFirst { for byte in UInt8(1)...2 { try both(byte) } }
    let first = isFirst ? 1 : 2
    // The session ends itself when it is asked for the changes of others, some times.
    try database.server.sql(
      """
      create table public.ends (is_due boolean);
      alter function stored_objects.commits_after rename to asked;
      create function stored_objects.commits_after(
        p_store integer, p_known bigint, p_own uuid[])
      returns table (last_commit bigint, number bigint, token uuid, author bytea, "time" bigint,
        based_on bigint, table_kinds smallint[], table_names text[], metadata bytea[],
        row_tables integer[], rows bigint[], row_kinds smallint[], names bytea[],
        name_kinds smallint[], cleared integer[], key_tables integer[], keys bytea[],
        key_kinds smallint[], key_values bytea[])
      language plpgsql as $$ begin
        if nextval('public.asked') between \(first) and \(first + count - 1) then
          perform pg_terminate_backend(pg_backend_pid());
          perform pg_sleep(10);
        end if;
        return query select * from stored_objects.asked(p_store, p_known, p_own);
      end $$;
      create sequence public.asked;
      """, database: name)
    for byte in UInt8(isFirst ? 1 : 3)...5 { try both(byte) }
    #expect(
      try database.server.sql(
        "select last_value >= \(count) from public.asked", database: name) == "t")
    #expect(mine.lastCommitNumber == 12 && theirs.lastCommitNumber == 12)
    #expect(try mine.record(3, in: table) == [5] && theirs.record(2, in: theirTable) == [5])
  }

  @Test("A commit that is based on what others have changed since is refused, known or not")
  func conflicts() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try database.backend(), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    for row in UInt32(2)...4 { try mine.commit(change(.insert, row, [0], table)) }
    let basis = CommitBasis(upTo: 3)
    // Another store of the same process.
    try mine.commit(change(.update, 2, [1], table), CommitRequest(basis: basis))
    #expect(
      storeError { try mine.commit(change(.update, 2, [2], table), CommitRequest(basis: basis)) }?
        .code == .conflict)
    try mine.commit(change(.update, 3, [1], table), CommitRequest(basis: basis))
    try theirs.commit(change(.update, 4, [1], theirTable))
    for _ in 0..<2 {
      #expect(
        storeError { try mine.commit(change(.update, 4, [2], table), CommitRequest(basis: basis)) }?
          .code == .conflict)
    }
    #expect(try mine.record(2, in: table) == [1] && mine.record(4, in: table) == [1])
    #expect(mine.lastCommitNumber == 6)
    #expect(try shortNumbers(database) == [2, 3, 4, 5])
  }

  @Test(
    "A new record conflicts if others had inserted and deleted it meanwhile", arguments: [1, 2])
  func deletedMeanwhile(_ count: Int) throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try database.backend(), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    for row in UInt32(2)...3 { try mine.commit(change(.insert, row, [0], table)) }
    let basis = CommitBasis(upTo: 2)
    try theirs.commit(change(.insert, 9, [1], theirTable))
    try theirs.commit(change(.delete, 9, [], theirTable))
    var own = ChangeSetBuilder()
    own.insert(9, in: table, [2])
    if count == 2 { own.insert(10, in: table, [2]) }
    let error = storeError { try mine.commit(own.changeSet, CommitRequest(basis: basis)) }
    #expect(error?.code == .conflict)
    #expect(try mine.recordCount(in: table) == 2 && mine.lastCommitNumber == 4)
  }

  @Test("If the first of several commits is overtaken, the others are not in its place")
  func overtakenGroup() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try database.backend(), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    for row in UInt32(2)...4 { try mine.commit(change(.insert, row, [0], table)) }
    let basis = CommitRequest(basis: CommitBasis(upTo: 3))
    let group = try [
      change(.insert, 10, [1], table), change(.update, 2, [2], table),
      change(.update, 3, [2], table),
    ].map { try OutgoingCommit($0, basis, mine) }
    // Where the first of them would be.
    try theirs.commit(change(.update, 2, [1], theirTable))
    let codes = mine.write(group) {}.map { outcome -> StoreError.Code? in
      if case .failure(let error) = outcome { error.code } else { nil }
    }
    #expect(codes == [nil, .conflict, nil])
    #expect(try mine.record(2, in: table) == [1] && mine.record(3, in: table) == [2])
    #expect(mine.lastCommitNumber == 6)
  }

  @Test(
    "A commit after unknown commits of others is made if they have not changed its basis",
    arguments: TestDatabase.keys)
  func unknownCommits(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let (mine, theirs) = (try database.backend(), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    let words = try mine.orderedTable(OrderedTableName("Words", kind: .data))
    let theirWords = try theirs.orderedTable(OrderedTableName("Words", kind: .data))
    var first = ChangeSetBuilder()
    for row in UInt32(2)...5 { first.insert(row, in: table, [0]) }
    first.set([1], to: [], in: words)
    let token = UUID()
    try mine.commit(first.changeSet, CommitRequest(token: token))
    func word(_ byte: UInt8) -> ChangeSet {
      var changes = ChangeSet()
      changes.set([byte], to: [byte], in: theirWords)
      return changes
    }
    func theirRow(_ row: UInt32) -> ChangeSet { change(.update, row, [1], theirTable) }
    for (changes, rows, keys, code, isShort) in [
      (theirRow(2), [], [], nil, true), (theirRow(3), [], [], .conflict, false),
      (theirRow(4), [4], [], .conflict, false), (theirRow(4), [2], [], nil, true),
      (theirRow(4), [9], [], nil, false),
      (word(2), [], [.key([1])], nil, true), (word(1), [], [.key([1])], .conflict, false),
      (word(2), [4], [], nil, true),
      // Only this process knows which keys of an encrypted store are in a range.
      (word(2), [], [.prefix([1])], nil, key == nil),
      (word(1), [], [.prefix([1])], .conflict, false),
    ] as [(ChangeSet, [UInt32], [KeyRange], StoreError.Code?, Bool)] {
      for (mayHaveOthers, isOfOneRow) in [(false, true), (true, true), (true, false)] {
        var basis = CommitBasis(upTo: mine.lastCommitNumber)
        basis.rows = rows.map { (table, $0) }
        basis.keys = keys.map { (words, $0) }
        try theirs.commit(changes)
        mine.smallAttempts.withLock {
          $0 = SmallAttempts()
          $0.note(followsOthers: mayHaveOthers)
        }
        var own = ChangeSetBuilder()
        own.update(3, in: table, [9])
        if !isOfOneRow { own.update(5, in: table, [9]) }
        let error = storeError {
          try mine.commit(own.changeSet, CommitRequest(basis: basis))
        }
        #expect(error?.code == code)
        if code != nil { continue }
        // The function for one record doesn't compare other rows, or keys.
        let isCompared = !isOfOneRow || keys.isEmpty && (mayHaveOthers || rows.isEmpty)
        #expect(
          try shortNumbers(database).contains(Int(basis.number) + 2) == (isShort && isCompared))
      }
    }
    mine.smallAttempts.withLock { $0 = SmallAttempts() }
    let number = mine.lastCommitNumber
    try theirs.commit(theirRow(3))
    try mine.commit(change(.update, 3, [8], table))
    #expect(try theirs.record(3, in: theirTable) == [8])
    #expect(try shortNumbers(database).last == Int(number) + 2)
    try theirs.commit(theirRow(3))
    let repeated = CommitRequest(token: token)
    #expect(try mine.commit(change(.update, 3, [7], table), repeated)?.number == 1)
    #expect(try mine.record(3, in: table) == [1])
    #expect(mine.lastCommitNumber == number + 3)
  }

  @Test("Of two metadata rows, the server keeps the one with more rows, if others are known")
  func metadataRows() throws {
    let database = try TestDatabase()
    let (mine, theirs) = (try database.backend(), try database.backend())
    let (table, theirTable) = (try mine.table(named: "Song"), try theirs.table(named: "Song"))
    func row(_ last: UInt32) -> [UInt8] {
      var buffer = DataBuffer()
      ClassMetadata(lastRowID: last, classVersion: 1, classID: 0, salt: .init(1, 2))
        .write(to: &buffer)
      return buffer.bytes
    }
    try mine.commit(change(.insert, 1, row(2), table))
    let basis = CommitRequest(basis: CommitBasis(upTo: 1))
    try theirs.commit(change(.update, 1, row(90), theirTable), basis)
    #expect(mine.lastCommitNumber == 2)
    try mine.commit(change(.update, 1, row(40), table), basis)
    #expect(try mine.record(1, in: table) == row(90))
    #expect(try mine.reserveRows(1, in: table) == 91...91)
  }

  @Test("Old commits are removed on the short way, too")
  func housekeeping() throws {
    let database = try TestDatabase()
    let backend = try database.backend()
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [0], table))
    let own = "(select id from stored_objects.stores where name = '\(database.store)')"
    // As if there had been more commits before.
    try database.server.sql(
      """
      update stored_objects.commits set number = number + 4100 where store = \(own);
      update stored_objects.stores set last_commit = 4101, weight = 4102 where id = \(own);
      insert into stored_objects.commits (store, number, token, author, weight, rows)
        select \(own), n, gen_random_uuid(), '', 1, '{}' from generate_series(1, 4100) n
      """)
    let other = try database.backend()
    let sameTable = try other.table(named: "Song")
    for number in UInt8(0)..<60 { try other.commit(change(.update, 2, [number], sameTable)) }
    let state = try database.server.sql(
      """
      select s.forgotten, s.counted,
        s.weight = sum(c.weight) filter (where c.number <= s.counted), min(c.number), max(c.number)
      from stored_objects.stores s join stored_objects.commits c on c.store = s.id
      where s.id = \(own) group by 1, 2, s.weight
      """)
    // 4,160 is a multiple of 64.
    #expect(state == "64|4160|t|65|4161")
    #expect(try shortNumbers(database).contains(4160))
  }

  @Test("After a lost answer, a commit of which the outcome can't be found out is in doubt")
  func doubt() throws {
    var configuration = PostgreSQLConfiguration()
    configuration.timeout = .milliseconds(500)
    let database = try TestDatabase()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let url = database.server.url(through: proxy.directory)
    let backend = try PostgreSQLBackend(
      "\(url)?options=-c%20lock_timeout%3D50ms", store: database.store,
      configuration: configuration)
    let table = try backend.table(named: "Song")
    try backend.commit(change(.insert, 2, [1], table))
    try backend.commit(change(.update, 2, [2], table))
    proxy.cut(.beforeAnswer)
    // The commit is made, and then another session takes the lock. The short way answers that others
    // have committed, and the other way can't look for the token.
    let lock = SharedLock<HeldLock?>(nil)
    proxy.beforeRequests {
      if proxy.hasCut { lock.withLock { if $0 == nil { $0 = try? HeldLock(database) } } }
    }
    let token = UUID()
    let error = storeError {
      try backend.commit(change(.update, 2, [3], table), CommitRequest(token: token))
    }
    #expect(error?.code == .reopenNeeded, "\(error.debugDescription)")
    #expect(error?.message.contains("\(token)") == true)
    proxy.beforeRequests {}
    let held = lock.withLock { $0 }
    try #require(held).release()
    #expect(try backend.commit(withToken: token)?.number == 3)
  }

  @Test(
    "Two machines and a model agree on which commits conflict with their basis",
    arguments: TestDatabase.keys)
  func basisModel(_ key: EncryptionKey?) throws {
    var random = Seeds.generator(for: "commits with a basis, \(key == nil ? "plain" : "sealed")")
    let database = try TestDatabase(key: key)
    let backends = [try database.backend(), try database.backend()]
    let model = try MemoryBackend(disk: MemoryDisk())
    let all = backends + [model] as [any StoreBackend]
    let changes = try all.map { try SmallChanges($0) }
    var conflictCount = 0
    for _ in 0..<300 {
      let number = Int.random(in: 0..<2, using: &random)
      let (seed, basisSeed) = (random.next() as UInt64, random.next() as UInt64)
      // The last commit that this machine knows, or an earlier one.
      let known = backends[number].coordinator.journal.lastNumber
      let last = known - min(known, UInt64.random(in: 0...3, using: &random))
      backends[number].smallAttempts.withLock { $0.note(isMade: true) }
      let codes = [number, 2].map { place in
        let basis = changes[place].basis(basisSeed, upTo: last)
        return storeError {
          try all[place].commit(changes[place].next(seed), CommitRequest(basis: basis))
        }?.code
      }
      #expect(codes[0] == codes[1])
      if codes[0] == .conflict { conflictCount += 1 }
    }
    let image = try StoreImage(of: model)
    for backend in backends { #expect(image.differences(from: try StoreImage(of: backend)) == []) }
    #expect(backends.map(\.lastCommitNumber) == [model.lastCommitNumber, model.lastCommitNumber])
    #expect((50..<250).contains(conflictCount))
    #expect(try shortNumbers(database).count > 50)
  }

  @Test(
    "Two machines and a model agree on random commits on both ways", arguments: TestDatabase.keys)
  func model(_ key: EncryptionKey?) throws {
    var random = Seeds.generator(for: "commits on both ways, \(key == nil ? "plain" : "sealed")")
    let database = try TestDatabase(key: key)
    let backends = [try database.backend(), try database.backend()]
    let model = try MemoryBackend(disk: MemoryDisk())
    let changes = try (backends + [model] as [any StoreBackend]).map { try SmallChanges($0) }
    var number = 0
    for _ in 0..<150 {
      // Mostly the same machine as before, so that both ways are taken.
      if Int.random(in: 0..<5, using: &random) == 0 { number = 1 - number }
      let seed = random.next() as UInt64
      let code = storeError { try backends[number].commit(changes[number].next(seed)) }?.code
      let expected = storeError { try model.commit(changes[2].next(seed)) }?.code
      #expect(code == expected)
    }
    let image = try StoreImage(of: model)
    for backend in backends { #expect(image.differences(from: try StoreImage(of: backend)) == []) }
    #expect(backends.map(\.lastCommitNumber) == [model.lastCommitNumber, model.lastCommitNumber])
    let count = try shortNumbers(database).count
    #expect((1..<150).contains(count))
  }
}

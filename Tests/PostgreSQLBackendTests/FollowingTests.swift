import Foundation
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

@Suite("Copies of stores with a history, from and to PostgreSQL", .needsServer)
struct FollowingTests {
  /// A change of random rows, buffers and keys on a backend with a history.
  private func begin(
    _ backend: any StoreBackend, _ random: SeededGenerator
  ) throws -> RandomChanges {
    var changes = try RandomChanges(backend, random)
    for _ in 0..<5 { try backend.commit(changes.next()) }
    try backend.beginHistory()
    return changes
  }

  /// The bytes of a store without the place that it follows.
  private func image(_ backend: any StoreBackend) throws -> StoreImage {
    var image = try StoreImage(of: backend)
    image.set([0], to: nil, in: OrderedTableName("Following", kind: .data))
    return image
  }

  @Test(
    "A copy in memory follows a store on a server, commit by commit", arguments: TestDatabase.keys)
  func source(_ key: EncryptionKey?) throws {
    var random = Seeds.generator(for: "following PostgreSQL, \(key == nil ? "plain" : "sealed")")
    let database = try TestDatabase(key: key)
    let (source, other) = (try database.backend(), try database.backend())
    var changes = try begin(source, SeededGenerator(seed: random.next()))
    var others = try RandomChanges(other, SeededGenerator(seed: random.next()))
    let target = try MemoryBackend()
    var follower = try StoreFollower(target)
    for round in 0..<12 {
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        try source.commit(changes.next())
        try other.commit(others.next(), CommitRequest(author: "other"))
      }
      // At most what the copy has, or it could not go on.
      if round == 6 { try other.purgeHistory(through: min(12, target.lastCommitNumber)) }
      try follower.catchUp(with: round % 2 == 0 ? source : other)
      #expect(target.lastCommitNumber == source.lastCommitNumber)
      #expect(try image(target).differences(from: image(source)) == [], "round \(round)")
    }
    #expect(try target.historyPosition() == source.historyPosition())
  }

  @Test(
    "A store on a server follows one in memory, takes no other commits, and is promoted",
    arguments: TestDatabase.keys)
  func target(_ key: EncryptionKey?) throws {
    var random = Seeds.generator(for: "PostgreSQL follows, \(key == nil ? "plain" : "sealed")")
    let source = try MemoryBackend()
    var changes = try begin(source, SeededGenerator(seed: random.next()))
    let database = try TestDatabase(key: key)
    let target = try database.backend()
    // It has looked when the store followed none.
    #expect(try target.canCommit())
    var follower = try StoreFollower(target)
    try follower.catchUp(with: source)
    let other = try database.backend()
    let table = try other.table(named: "Song")
    for round in 0..<10 {
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        try source.commit(
          changes.next(), CommitRequest(basis: CommitBasis(upTo: source.lastCommitNumber)))
      }
      if round == 5 { try source.purgeHistory(through: min(10, target.lastCommitNumber)) }
      if round % 3 == 2 { follower = try StoreFollower(try database.backend()) }
      try follower.catchUp(with: source)
      #expect(try image(target).differences(from: image(source)) == [], "round \(round)")
      #expect(try target.historyPosition() == source.historyPosition())
      let refusal = storeError { try other.commit(change(.update, 2, [1], table)) }
      #expect(refusal?.code == .readOnly)
      #expect(try !other.canCommit() && !target.canCommit())
    }
    let number = target.lastCommitNumber
    try other.promote()
    try target.commit(change(.update, 2, [1, 2, 3], try target.table(named: "Song")))
    #expect(target.lastCommitNumber == number + 2)
    #expect(try HistoryWalk.numbers(other).suffix(2) == [number + 1, number + 2])
    #expect(try target.historyID() != source.historyID())
  }

  @Test("A copy has the history of its source, and goes on with it", arguments: TestDatabase.keys)
  func copies(_ key: EncryptionKey?) throws {
    var random = Seeds.generator(for: "copies of histories, \(key == nil ? "plain" : "sealed")")
    let source = try MemoryBackend()
    var changes = try begin(source, random)
    for _ in 0..<20 { try source.commit(changes.next()) }
    try source.noteHistorySeen(by: "search", through: 9)
    let server = try TestDatabase(key: key).backend()
    try BackendCopy(from: source, to: server).run()
    #expect(try image(server).differences(from: image(source)) == [])
    #expect(server.lastCommitNumber == source.lastCommitNumber)
    var more = try RandomChanges(server, SeededGenerator(seed: random.next()))
    for _ in 0..<20 { try server.commit(more.next()) }
    let back = try MemoryBackend()
    try BackendCopy(from: server, to: back).run()
    #expect(try image(back).differences(from: image(server)) == [])
    for backend in [server, back] as [any StoreBackend] {
      let start = try #require(try backend.historyStart())
      #expect(try HistoryWalk.numbers(backend) == Array(start + 1..<backend.lastCommitNumber + 1))
      #expect(try backend.historyConsumers() == ["search": 9])
      #expect(try backend.historyID() == source.historyID())
    }
    let start = try #require(try source.historyStart())
    let earlier = try HistoryWalk.content(source.snapshot(asOf: start))
    try HistoryWalk.checkEntries(server, from: earlier)
  }
}

import Foundation
import Locks
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestServer
import Testing

/// A class with two indexes, whose keys change with its objects.
private final class Track: StoredObject {
  @Content var title = ""
  @Content var plays = 0

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("title", \Track.title), AttributeIndex("plays", \Track.plays)]
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(plays)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    plays = try buffer.read()
  }
}

/// A class with two unique values and another one.
private final class Account: StoredObject {
  @Content var name = ""
  @Content var number: Int?
  @Content var balance = 0

  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("name", \Account.name, isUnique: true),
      AttributeIndex("number", \Account.number, isUnique: true),
      AttributeIndex("balance", \Account.balance),
    ]
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(number ?? -1)
    buffer.write(balance)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    let number = try buffer.read() as Int
    self.number = number < 0 ? nil : number
    balance = try buffer.read()
  }
}

@Suite("Saves of objects with indexes on PostgreSQL", .needsServer)
struct IndexedSaveTests {
  private static func open(_ backend: PostgreSQLBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Track.self)
    return store
  }

  private static func insert(_ count: Int, into store: Store) throws -> [Track] {
    let tracks = (0..<count).map { _ in Track() }
    for (number, track) in tracks.enumerated() {
      track.title = "\(number)"
      store.insert(track)
    }
    try store.saveChanges()
    return tracks
  }

  @Test(
    "A save of objects with indexes is two round trips, and one more for each 1,024 objects",
    arguments: TestDatabase.keys)
  func roundTrips(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let store = try Self.open(database.backend(through: proxy))
    let tracks = try Self.insert(1500, into: store)
    for (count, expected) in [(1, 2), (200, 2), (1024, 2), (1025, 3), (1500, 3)] {
      for track in tracks.prefix(count) { track.plays += 1 }
      proxy.roundTrips = 0
      try store.saveChanges()
      #expect(proxy.roundTrips == expected, "\(count) objects")
    }
    #expect(try store.check().isSound)
    #expect(try store.fetch(Track.self, where: \.plays, is: 5).count == 1)
    #expect(try store.fetch(Track.self, where: \.plays, is: 1).count == 475)
  }

  private static func openAccounts(_ backend: PostgreSQLBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Account.self)
    return store
  }

  @discardableResult
  private static func insert(
    _ name: String, _ number: Int? = nil, into store: Store
  ) -> Account {
    let account = Account()
    (account.name, account.number) = (name, number)
    store.insert(account)
    return account
  }

  @Test(
    "Unique values of any number of objects take no round trip of their own",
    arguments: TestDatabase.keys)
  func roundTripsOfUniqueValues(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let store = try Self.openAccounts(database.backend(through: proxy))
    let accounts = (0..<300).map { (number: Int) in Self.insert("\(number)", number, into: store) }
    try store.saveChanges()
    // The keys of an encrypted table are read once.
    accounts[0].balance = 1
    try store.saveChanges()
    for count in [1, 20, 300] {
      for account in accounts.prefix(count) { account.balance += 1 }
      proxy.roundTrips = 0
      try store.saveChanges()
      #expect(proxy.roundTrips == 2, "\(count) objects")
    }
    // With row IDs that are reserved already.
    for _ in 0..<64 { Self.insert("first \(UUID())", into: store) }
    try store.saveChanges()
    for number in 0..<10 { Self.insert("new \(number)", 1000 + number, into: store) }
    proxy.roundTrips = 0
    try store.saveChanges()
    #expect(proxy.roundTrips == 2)
    #expect(try store.check().isSound)
  }

  @Test(
    "A value of one of many objects that another object has is found", arguments: TestDatabase.keys)
  func uniqueValues(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let store = try Self.openAccounts(database.backend())
    let accounts = (0..<40).map { (number: Int) in Self.insert("\(number)", number, into: store) }
    try store.saveChanges()
    // Values of objects that are saved together change places.
    (accounts[1].name, accounts[2].name) = ("2", "1")
    (accounts[3].number, accounts[4].number) = (4, 3)
    try store.saveChanges()
    let theirs = try Self.openAccounts(database.backend())
    for (name, number, index) in [("7", nil, "name"), ("x", 9, "number"), ("y", nil, nil)]
      as [(String, Int?, String?)]
    {
      for number in 100..<120 { Self.insert("\(name) \(number)", number, into: theirs) }
      Self.insert(name, number, into: theirs)
      let error = storeError { try theirs.saveChanges() }
      #expect(error?.code == (index == nil ? nil : .notUnique))
      #expect(error?.location.property == index)
      theirs.discardChanges()
    }
    // A value that an object of the same save gives up is free.
    accounts[5].number = nil
    Self.insert("z", 5, into: store)
    try store.saveChanges()
    #expect(try store.object(Account.self, where: \.number, is: 5)?.name == "z")
    #expect(try store.check().isSound)
  }

  @Test("A unique index that the save builds is asked for the values, too")
  func builtIndex() throws {
    let database = try TestDatabase()
    let store = try Self.openAccounts(database.backend())
    for number in 0..<10 { Self.insert("\(number)", number, into: store) }
    try store.saveChanges()
    // Without its stamp, an index is built again.
    let table = try store.backend.orderedTable(OrderedTableName("Account..by name", kind: .index))
    var changes = ChangeSet()
    changes.clear(table)
    #expect(try store.backend.keyCount(in: table, KeyRange()) == 11)
    try store.backend.commit(changes)
    Self.insert("3", into: store)
    #expect(storeError { try store.saveChanges() }?.code == .notUnique)
    store.discardChanges()
    Self.insert("new", into: store)
    try store.saveChanges()
    #expect(try store.check().isSound)
  }

  @Test(
    "No index is built because another machine saves between any two requests",
    arguments: TestDatabase.keys)
  func savesOfOthers(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let mine = try Self.open(database.backend(through: proxy))
    let tracks = try Self.insert(50, into: mine)
    tracks[0].plays = 1
    try mine.saveChanges()
    let theirs = try database.backend()
    let number = theirs.lastCommitNumber
    let others = SharedLock(0)
    proxy.beforeRequests {
      // With a limit, so that a save that begins again and again ends at last.
      if others.withLock(\.self) == 200 { return }
      others.withLock { $0 += 1 }
      #expect(throws: Never.self) { _ = try Self.insert(1, into: Self.open(theirs)) }
    }
    proxy.roundTrips = 0
    for plays in 2...11 {
      tracks[plays].plays = plays
      try mine.saveChanges()
    }
    // The first commit didn't expect others. The proxy may see the two transactions of each other
    // one separately.
    #expect((21...30).contains(proxy.roundTrips))
    // Nothing but these saves was committed.
    #expect(theirs.lastCommitNumber == number + 10 + UInt64(others.withLock(\.self)))
    proxy.beforeRequests {}
    #expect(try mine.check().isSound)
  }
}

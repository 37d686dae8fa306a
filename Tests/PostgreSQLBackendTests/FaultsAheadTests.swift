import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsTestSupport
import TestServer
import Testing

private final class Playlist: StoredObject {
  @Content var songs: ObjectList<Song> = []

  override func writeContent(to buffer: inout DataBuffer) throws { buffer.write(songs) }
  override func readContent(from buffer: inout DataBuffer) throws {
    songs = try buffer.readList(of: Song.self)
  }
}

@Suite("Faults read in batches", .needsServer)
struct FaultsAheadTests {
  private let database: TestDatabase
  private let first: Store

  init() throws {
    database = try TestDatabase()
    first = try Self.open(database.backend())
  }

  private static func open(_ backend: PostgreSQLBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Song.self, Playlist.self)
    return store
  }

  /// Saves a list whose songs are called by their positions.
  private func saveList(_ count: Int) throws {
    let list = Playlist()
    let songs = (0..<count).map { _ in Song() }
    for (number, song) in songs.enumerated() {
      song.title = "\(number)"
      first.insert(song)
    }
    // Not in the order of the rows.
    list.songs = ObjectList(songs.reversed())
    first.insert(list)
    try first.saveChanges()
  }

  private func list(of store: Store) throws -> Playlist {
    try #require(try store.allObjects(of: Playlist.self).first)
  }

  @Test(
    "Walking a list of 1,000 faults takes at most five round trips, in each direction",
    arguments: [false, true])
  func walk(isBackwards: Bool) throws {
    try saveList(1000)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let second = try Self.open(database.backend(through: proxy))
    let songs = Array(try list(of: second).songs)
    proxy.roundTrips = 0
    let titles = isBackwards ? songs.reversed().map(\.title) : songs.map(\.title)
    let numbers = isBackwards ? Array(0..<1000) : (0..<1000).reversed()
    #expect(titles == numbers.map { "\($0)" })
    #expect((1...5).contains(proxy.roundTrips), "\(proxy.roundTrips)")
  }

  @Test(
    "A loop over a list of 1,000, which retains no object, takes at most five round trips",
    arguments: [false, true])
  func loop(isBackwards: Bool) throws {
    try saveList(1000)
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let second = try Self.open(database.backend(through: proxy))
    let list = try list(of: second)
    #expect(list.songs.count == 1000)
    proxy.roundTrips = 0
    var titles: [String] = []
    if isBackwards {
      for song in list.songs.reversed() as ReversedCollection { titles.append(song.title) }
    } else {
      for song in list.songs { titles.append(song.title) }
    }
    let numbers = isBackwards ? Array(0..<1000) : (0..<1000).reversed()
    #expect(titles == numbers.map { "\($0)" })
    #expect((1...5).contains(proxy.roundTrips), "\(proxy.roundTrips)")
  }

  @Test("Walking ten lists of 100 faults, one after the other, takes two round trips")
  func lists() throws {
    for _ in 0..<10 { try saveList(100) }
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let second = try Self.open(database.backend(through: proxy))
    let lists = try second.allObjects(of: Playlist.self)
    proxy.roundTrips = 0
    var titles: [String] = []
    for list in lists { for song in list.songs { titles.append(song.title) } }
    #expect(titles == (0..<10).flatMap { _ in (0..<100).reversed().map { "\($0)" } })
    #expect(proxy.roundTrips == 2)
  }

  @Test("Elements are found in any order, also if some of the rows between them are elsewhere")
  func shuffled() throws {
    try saveList(300)
    var random = Seeds.generator(for: "elements of a list")
    let list = try list(of: first)
    let all = Array(list.songs)
    for (number, song) in all.enumerated() { song.title = "\(number)" }
    // From almost all rows to very few.
    for count in [299, 250, 200, 50, 5, 1] {
      let chosen = Array(all.shuffled(using: &random).prefix(count))
      list.songs = ObjectList(chosen)
      try first.saveChanges()
      let second = try Self.open(database.backend())
      let titles = try self.list(of: second).songs.map(\.title)
      #expect(titles == chosen.map(\.title))
    }
  }

  @Test("The next batch of large records is smaller")
  func largeRecords() throws {
    try saveList(200)
    for song in try list(of: first).songs { song.title = String(repeating: "x", count: 30_000) }
    try first.saveChanges()
    let proxy = try TestProxy(before: database.server)
    defer { proxy.close() }
    let second = try Self.open(database.backend(through: proxy))
    let list = try list(of: second)
    proxy.roundTrips = 0
    // A batch holds 1 MiB, 35 records; the first one is read before their size is known.
    #expect(list.songs.allSatisfy { $0.title.utf8.count == 30_000 })
    #expect((5...8).contains(proxy.roundTrips), "\(proxy.roundTrips)")
  }

  @Test("Reading one fault of thousands does not read the others")
  func single() throws {
    try saveList(5000)
    let second = try Self.open(database.backend())
    let songs = Array(try list(of: second).songs)
    for index in stride(from: 0, to: 5000, by: 977) { #expect(songs[index].title != "") }
    #expect(songs.count(where: \.hasContent) == 6)
  }

  @Test("A row that another machine has saved is not served from an earlier batch")
  func news() throws {
    try saveList(100)
    let second = try Self.open(database.backend())
    let songs = Array(try list(of: second).songs)
    #expect(songs[99].title == "0")
    for song in try first.allObjects(of: Song.self) { song.title = "new" }
    try first.saveChanges()
    second.mergeChanges()
    // Rows that were read ahead come first.
    #expect(songs.dropLast().reversed().allSatisfy { $0.title == "new" })
    for song in songs { song.plays += 1 }
    try second.saveChanges()
  }

  @Test("An object that was read ahead and deleted elsewhere does not exist")
  func deletion() throws {
    try saveList(16)
    let second = try Self.open(database.backend())
    let songs = Array(try list(of: second).songs)
    #expect(songs[15].title == "0")
    let theirs = try list(of: first)
    first.delete(try #require(theirs.songs.first))
    theirs.songs.removeFirst()
    try first.saveChanges()
    second.mergeChanges()
    #expect(storeError { try songs[0].fetchContent() }?.code == .recordMissing)
    #expect(songs[1].title == "14")
  }

  @Test("An object that the store has saved is not served from an earlier batch")
  func ownSave() throws {
    try saveList(100)
    let second = try Self.open(database.backend())
    let songs = Array(try list(of: second).songs)
    #expect(songs[99].title == "0")
    // A scan reads all again.
    for song in try second.allObjects(of: Song.self) { song.title = "mine" }
    try second.saveChanges()
    second.dissolveAllRelationships()
    // Rows that were read ahead come first.
    #expect(songs.dropLast().reversed().allSatisfy { $0.title == "mine" })
  }
}

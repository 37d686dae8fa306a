import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct EnumerationTests {
  /// A store of numbered songs, saved.
  private func store(_ fixture: Fixture, _ count: Int) throws -> Store {
    let store = try fixture.store()
    for number in 0..<count { store.insert(Song("\(number)", UInt32(number))) }
    try store.saveChanges()
    return store
  }

  /// The result of each way to read all objects, which must be equal.
  private func titles(_ store: Store) throws -> [String] {
    let all = try store.allObjects(of: Song.self)
    var visited: [Song] = []
    try store.enumerate(Song.self) { song, _ in visited.append(song) }
    #expect(visited.sorted { $0.rowID < $1.rowID } == all)
    #expect(try store.count(of: Song.self) == all.count)
    return all.map(\.title)
  }

  @Test("Enumerating, counting and fetching see unsaved inserts, updates and deletes")
  func unsavedChanges() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 5)
    #expect(try titles(store) == ["0", "1", "2", "3", "4"])
    let songs = try store.allObjects(of: Song.self)
    songs[1].title = "one"
    store.delete(songs[2])
    let new = Song("new", 0)
    store.insert(new)
    #expect(try titles(store) == ["0", "one", "3", "4", "new"])
    #expect(try store.object(Song.self, rowID: songs[2].rowID) == nil)
    #expect(try store.object(Song.self, rowID: new.rowID) === new)
    store.delete(new)
    store.insert(songs[2])
    #expect(try titles(store) == ["0", "one", "2", "3", "4"])
    #expect(try store.object(Song.self, rowID: new.rowID) == nil)
    for song in songs { store.delete(song) }
    #expect(try titles(store) == [])
    try store.saveChanges()
    #expect(try titles(store) == [])
    #expect(try store.object(Song.self, rowID: 1) == nil)
    #expect(try store.object(Song.self, rowID: 0) == nil)
    #expect(try store.object(Song.self, rowID: .max) == nil)
  }

  @Test("A fetch never overwrites an unsaved edit")
  func fetchKeepsEdits() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 3)
    let song = try #require(try store.object(Song.self, rowID: 2))
    song.title = "edited"
    try song.fetchContent()
    store.refresh(song)
    _ = try store.object(Song.self, rowID: 2)
    #expect(try titles(store) == ["edited", "1", "2"])
    #expect(song.title == "edited")
  }

  @Test("An enumeration ends if the closure says so")
  func earlyExit() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 100)
    var count = 0
    try store.enumerate(Song.self) { _, stop in
      count += 1
      stop = count == 7
    }
    #expect(count == 7)
    #expect(try titles(store).count == 100)
  }

  @Test("An error of the closure ends an enumeration and is thrown unchanged")
  func thrownError() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 100)
    var count = 0
    #expect(throws: Stubborn.Refusal.self) {
      try store.enumerate(Song.self) { _, _ in
        count += 1
        if count == 3 { throw Stubborn.Refusal() }
      }
    }
    #expect(count == 3)
    #expect(try titles(store).count == 100)
  }

  @Test("Enumerations nest, of one class and of several")
  func nested() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 30)
    var pairs: [[String]] = []
    try store.enumerate(Song.self) { outer, _ in
      try store.enumerate(Song.self) { inner, stop in
        pairs.append([outer.title, inner.title])
        stop = inner.title == outer.title
      }
    }
    #expect(Set(pairs).count == pairs.count)
    #expect(pairs.count == 30 * 31 / 2)
  }

  @Test(
    "A cursor over several batches returns every object once", arguments: [1_023, 1_024, 5_000])
  func batches(_ count: Int) throws {
    let fixture = try Fixture()
    let store = try store(fixture, count)
    #expect(try titles(store) == (0..<count).map { "\($0)" })
  }

  @Test("Editing, inserting, deleting and saving inside an enumeration disturb nothing")
  func editInside() throws {
    for saveEvery in [1, 3, 50, 1_000_000] {
      let fixture = try Fixture()
      let store = try store(fixture, 1_500)
      let unsaved = Song("unsaved", 0)
      store.insert(unsaved)
      var visited: [String] = []
      var deleted: Set<String> = []
      try store.enumerate(Song.self) { song, _ in
        visited.append(song.title)
        let rowID = song.rowID
        switch visited.count % 5 {
        case 0: song.seconds += 10_000
        case 1: store.insert(Song("later", 0))
        case 2:
          // One that has not had its turn, and then the one whose turn it is.
          if let next = try store.object(Song.self, rowID: rowID + 1) {
            deleted.insert(next.title)
            store.delete(next)
          }
        case 3: store.delete(song)
        default: break
        }
        if visited.count.isMultiple(of: saveEvery) { try store.saveChanges() }
      }
      #expect(Set(visited).count == visited.count, "twice, when saving every \(saveEvery)")
      #expect(!visited.contains("later"))
      let expected = Set((0..<1_500).map { "\($0)" } + ["unsaved"])
      #expect(Set(visited).union(deleted) == expected)
      #expect(Set(visited).isDisjoint(with: deleted))
      try store.saveChanges()
      #expect(try fixture.store().count(of: Song.self) == store.count(of: Song.self))
    }
  }

  @Test("Discarding inside an enumeration ends nothing else")
  func discardInside() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 200)
    store.insert(Song("unsaved", 0))
    var visited = 0
    try store.enumerate(Song.self) { song, _ in
      visited += 1
      song.title = "x"
      if visited % 50 == 0 { store.discardChanges() }
    }
    #expect(visited == 200)
  }

  @Test("Deleting everything inside an enumeration leaves nothing")
  func deleteAll() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 3_000)
    try store.enumerate(Song.self) { song, _ in
      store.delete(song)
      if song.rowID % 100 == 0 { try store.saveChanges() }
    }
    try store.saveChanges()
    #expect(try titles(store) == [])
  }

  @Test("A cursor continues after a record that can't be read")
  func damagedRecord() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 10)
    try fixture.overwrite(Song.self, 5, [7])
    var cursor = try store.cursor(over: Song.self)
    var (titles, errors): ([String], [UInt32?]) = ([], [])
    for _ in 0..<10 {
      do {
        if let song = try cursor.next() { titles.append(song.title) }
      } catch {
        errors.append(error.location.rowID)
      }
    }
    #expect(try cursor.next() == nil)
    #expect(errors == [5] && titles.count == 9)
  }

  @Test("A failed read in an enumeration leaves the store usable")
  func failingRead() throws {
    let fixture = try Fixture()
    let store = try store(fixture, 10)
    fixture.backend.failReads()
    expectStoreError(.ioError) { try store.enumerate(Song.self) { _, _ in } }
    fixture.backend.failReads()
    expectStoreError(.ioError) { _ = try store.count(of: Song.self) }
    #expect(try titles(store).count == 10)
  }
}

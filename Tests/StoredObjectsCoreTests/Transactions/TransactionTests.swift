import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

private struct Refusal: Error {}

@Suite("A transaction")
struct TransactionTests {
  @Test("It saves what its closure has changed, and returns what that returns")
  func saves() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let row = try store.transaction {
      let song = Song("a", 1)
      store.insert(song)
      return song.rowID
    }
    #expect(!store.hasUnsavedChanges)
    #expect(try fixture.store().object(Song.self, rowID: row)?.title == "a")
  }

  @Test("An error takes back properties, lists, inserts, deletes and named buffers")
  func takesBack() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let list = Playlist()
    list.songs = songs
    store.insert(list)
    try store.saveChanges()
    #expect(throws: Refusal.self) {
      try store.transaction {
        songs[0].title = "changed"
        list.songs = [songs[1], songs[1]]
        store.insert(Song("c", 3))
        store.delete(songs[1])
        try store.setBuffer(named: "Name") { $0.write("new") }
        throw Refusal()
      }
    }
    #expect(!store.hasUnsavedChanges)
    #expect(songs.map(\.title) == ["a", "b"])
    #expect(list.songs == songs)
    #expect(try store.allObjects(of: Song.self) == songs)
    #expect(try store.buffer(named: "Name") == nil)
  }

  @Test("An inner one takes back only its own changes, also of what the outer one has changed")
  func nests() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b", "c")
    try store.transaction {
      songs[0].title = "outer"
      let new = Song("new", 1)
      store.insert(new)
      store.delete(songs[1])
      try? store.transaction {
        songs[0].title = "inner"
        songs[2].title = "inner"
        new.title = "inner"
        store.insert(songs[1])
        throw Refusal()
      }
      #expect(songs[0].title == "outer")
      #expect(new.title == "new")
      #expect(songs[1].isDeleted)
      #expect(songs[2].title == "c")
      #expect(!songs[2].hasUnsavedChanges)
    }
    let titles = try fixture.store().allObjects(of: Song.self).map(\.title)
    #expect(titles.sorted() == ["c", "new", "outer"])
  }

  @Test("Siblings each take back what they have changed, whoever has changed it before")
  func siblings() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    try store.transaction {
      for round in 0..<10 {
        try? store.transaction {
          songs[0].title += "\(round)"
          if round % 2 == 1 { throw Refusal() }
        }
      }
    }
    #expect(songs[0].title == "a02468")
    #expect(try fixture.store().allObjects(of: Song.self).map(\.title) == ["a02468"])
  }

  @Test("Changes that were unsaved before stay, unsaved, after an error, and are saved otherwise")
  func earlierChanges() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    songs[0].title = "earlier"
    let new = Song("new", 1)
    store.insert(new)
    #expect(throws: Refusal.self) {
      try store.transaction {
        songs[0].title = "later"
        new.title = "later"
        songs[1].title = "later"
        throw Refusal()
      }
    }
    #expect(songs.map(\.title) == ["earlier", "b"])
    #expect(new.title == "new")
    #expect(songs[0].hasUnsavedChanges && !songs[1].hasUnsavedChanges)
    try store.transaction {}
    let titles = try fixture.store().allObjects(of: Song.self).map(\.title)
    #expect(titles.sorted() == ["b", "earlier", "new"])
  }

  @Test("A save that fails takes everything back", arguments: [false, true])
  func failingSave(hasUnsavedChanges: Bool) throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    if hasUnsavedChanges { songs[0].seconds = 99 }
    fixture.backend.failCommits()
    #expect(throws: StoreError.self) {
      try store.transaction {
        songs[0].title = "changed"
        store.insert(Song("new", 1))
      }
    }
    #expect(songs[0].title == "a")
    #expect(store.hasUnsavedChanges == hasUnsavedChanges)
    #expect(try store.allObjects(of: Song.self) == songs)
  }

  @Test("An object whose insertion was taken back is in no store, and can be inserted again")
  func insertsAgain() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let song = Song("a", 1)
    try store.transaction {
      store.insert(Song("first", 1))
      try? store.transaction {
        store.insert(song)
        throw Refusal()
      }
      #expect(song.store == nil)
      store.insert(song)
    }
    #expect(try fixture.store().allObjects(of: Song.self).map(\.title) == ["first", "a"])
  }

  @Test("A save inside of one is an error that says so, and discarding takes everything back")
  func savesInside() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    let error = #expect(throws: StoreError.self) {
      try store.transaction {
        songs[0].title = "changed"
        try store.saveChanges()
      }
    }
    #expect(error?.code == .nestedWrite)
    #expect(songs[0].title == "a")
    songs[0].title = "unsaved"
    try store.transaction {
      songs[0].title = "changed"
      store.discardChanges()
      try? store.transaction {
        songs[0].title = "changed again"
        throw Refusal()
      }
    }
    #expect(songs[0].title == "a")
  }

  @Test("It runs again after a conflict, on what the other store has saved, as often as is asked")
  func conflicts() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    let other = try fixture.store()
    let its = try #require(try other.object(Song.self, rowID: songs[0].rowID))
    var runs = 0
    func add(_ attempts: Int, collisions: Int) throws {
      runs = 0
      try store.transaction(attempts: attempts) {
        runs += 1
        songs[0].seconds += 1
        guard runs <= collisions else { return }
        other.mergeChanges()
        its.seconds += 10
        try other.saveChanges()
      }
    }
    try add(3, collisions: 2)
    #expect(runs == 3)
    #expect(songs[0].seconds == 22)
    let error = #expect(throws: StoreError.self) { try add(2, collisions: 2) }
    #expect(error?.code == .conflict)
    #expect(runs == 2)
    #expect(!store.hasUnsavedChanges)
    #expect(songs[0].seconds == 42)
  }

  @Test("The undo history knows nothing of what was taken back, and can redo what it could before")
  func history() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    let history = StoreUndoManager()
    store.undoManager = history
    history.group("one") { songs[0].title = "b" }
    history.group("two") { songs[0].title = "c" }
    try history.undo()
    #expect(throws: Refusal.self) {
      try store.transaction {
        songs[0].title = "x"
        throw Refusal()
      }
    }
    #expect(history.undoActionNames == ["one"])
    #expect(history.redoActionName == "two")
    try history.redo()
    #expect(songs[0].title == "c")
  }

  @Test("What its objects are like is taken down only where something is unsaved")
  func encodesLittle() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    try store.transaction {
      songs[0].title = "changed"
      let savepoint = try #require(store.transactions.savepoints.first)
      guard case .saved? = savepoint.objects.values.first else {
        Issue.record("an object that was as it is saved was encoded")
        return
      }
    }
  }
}

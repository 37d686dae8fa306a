import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

private struct Refusal: Error {}

@Suite("Transactions")
struct TransactionTests {
  @Test("A transaction saves the changes of its closure, and returns its result")
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

  @Test("An error undoes properties, lists, inserts, deletes and named buffers")
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

  @Test("An inner transaction undoes its own changes only, also of objects of the outer one")
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

  @Test("Siblings each undo their own changes, also of the same objects")
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

  @Test("Changes from before stay unsaved after an error, and are saved otherwise")
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

  @Test("A failed save undoes everything", arguments: [false, true])
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

  @Test("An object whose insertion was undone is in no store, and can be inserted again")
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

  @Test("A save inside of a transaction is an error that says so, and discarding undoes everything")
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

  @Test("After a conflict a transaction runs again on the saved data, as often as requested")
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

  @Test("The undo history has nothing that was rolled back, and can redo the same steps as before")
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

  @Test("The state of its objects is recorded only if something is unsaved")
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

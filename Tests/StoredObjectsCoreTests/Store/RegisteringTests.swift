import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

private protocol Marker {}
private enum M0: Marker {}
private enum M1: Marker {}
private enum M2: Marker {}
private enum M3: Marker {}
private final class Pair<A, B>: StoredObject {}
private final class Renamed: StoredObject {
  override class var storedName: String { "Song" }
}
private final class Nameless: StoredObject {
  override class var storedName: String { "" }
}

@Suite struct RegisteringTests {
  private func open(_ fixture: Fixture, _ types: StoredObject.Type...) throws -> Store {
    let store = Store(backend: fixture.backend)
    for type in types { try store.register(type) }
    return store
  }

  /// Metadata rows for Song as class 0, Playlist 1, Node 2, Stubborn 3.
  private func saved(_ fixture: Fixture) throws {
    _ = try fixture.store(songs: "a")
    try fixture.reopen()
  }

  @Test("The first save writes the name of every class, also of those without objects")
  func placesAreRecorded() throws {
    let fixture = try Fixture()
    try saved(fixture)
    for (index, type) in Fixture.allClasses.enumerated() {
      let row = try #require(try fixture.record(type, 1))
      #expect(row.count == 23 && row[5] == UInt8(index))
    }
  }

  @Test("Registering a class twice is an error that names it")
  func twice() throws {
    let fixture = try Fixture()
    let store = try open(fixture, Song.self)
    let error = expectStoreError(.registeredTwice) { try store.register(Song.self) }
    #expect(error?.message.contains("Song") == true)
    try store.register(Playlist.self)
    #expect(try store.count(of: Playlist.self) == 0)
  }

  @Test("Two classes with one stored name are an error that names both")
  func sameName() throws {
    let fixture = try Fixture()
    let store = try open(fixture, Song.self)
    let error = expectStoreError(.registeredTwice) { try store.register(Renamed.self) }
    #expect(error?.message.contains("Renamed") == true)
    #expect(error?.message.contains("Song") == true)
  }

  @Test("A class whose name the backend can't hold is refused")
  func nameless() throws {
    let fixture = try Fixture()
    let store = try open(fixture)
    expectStoreError(.invalidName) { try store.register(Nameless.self) }
  }

  /// The class IDs that the store has.
  private func classIDs(_ fixture: Fixture, _ types: StoredObject.Type...) throws -> [UInt8?] {
    try types.map { try fixture.record($0, 1)?[5] }
  }

  /// A song, a node that refers to it as to any object, and another node.
  private func savedGraph(_ fixture: Fixture) throws {
    let (store, songs) = try fixture.store(songs: "a")
    let nodes = [Node("first"), Node("second")]
    nodes.forEach(store.insert)
    nodes[0].anything = songs[0]
    nodes[0].mixed = [songs[0], nodes[1]]
    try store.saveChanges()
    try fixture.reopen()
  }

  @Test("Classes are registered in any order, and keep their class IDs")
  func order() throws {
    let fixture = try Fixture()
    try savedGraph(fixture)
    let store = try open(fixture, Stubborn.self, Playlist.self, Node.self, Song.self)
    let node = try #require(try store.object(Node.self, rowID: 2))
    #expect((node.anything as? Song)?.title == "a")
    let playlist = Playlist()
    store.insert(playlist)
    node.anything = playlist
    try store.saveChanges()
    #expect(
      try classIDs(fixture, Song.self, Playlist.self, Node.self, Stubborn.self) == [0, 1, 2, 3])
    try fixture.reopen()
    let again = try fixture.store()
    #expect(try again.object(Node.self, rowID: 2)?.anything is Playlist)
    #expect(try again.check().isSound)
  }

  @Test("A new class gets the lowest free class ID, also before the others are registered")
  func newClass() throws {
    let fixture = try Fixture()
    try saved(fixture)
    let store = try open(fixture, Counted.self, Playlist.self)
    #expect(try store.count(of: Counted.self) == 0)
    store.insert(Counted())
    try store.saveChanges()
    #expect(try classIDs(fixture, Counted.self) == [4])
    try fixture.reopen()
    let all = try open(
      fixture, Song.self, Counted.self, Playlist.self, Node.self, Stubborn.self)
    #expect(try all.check().isSound)
    #expect(try all.count(of: Counted.self) == 1 && all.count(of: Song.self) == 1)
  }

  @Test("A class that is not registered does not affect the others, and is not changed")
  func leftOut() throws {
    let fixture = try Fixture()
    try savedGraph(fixture)
    let before = try [fixture.record(Song.self, 2), fixture.record(Node.self, 2)]
    let store = try open(fixture, Playlist.self, Node.self)
    // The check finds nothing wrong where it can't read.
    #expect(try store.check().isSound)
    try store.object(Node.self, rowID: 3)?.name = "third"
    try store.saveChanges()
    let error = expectStoreError(.notRegistered) { _ = try store.object(Node.self, rowID: 2) }
    #expect(error?.message.contains("Song is not registered") == true)
    #expect(error?.location.className == "Node" && error?.location.rowID == 2)
    #expect(try before == [fixture.record(Song.self, 2), fixture.record(Node.self, 2)])
    try store.register(Song.self)
    #expect(try store.object(Node.self, rowID: 2)?.anything is Song)
  }

  @Test("Two stores on one backend register new classes in two orders, with the same class IDs")
  func twoOrders() throws {
    let fixture = try Fixture()
    let first = try open(fixture, Song.self, Playlist.self)
    let second = try open(fixture, Playlist.self, Song.self)
    second.insert(Song("b", 1))
    try second.saveChanges()
    first.insert(Song("a", 1))
    first.insert(Playlist())
    try first.saveChanges()
    #expect(try classIDs(fixture, Song.self, Playlist.self) == [0, 1])
    #expect(try first.allObjects(of: Song.self).map(\.title) == ["b", "a"])
  }

  @Test("Two classes with one class ID are an error that names both")
  func sameClassID() throws {
    let fixture = try Fixture()
    try saved(fixture)
    var row = try #require(try fixture.record(Playlist.self, 1))
    row[5] = 0
    try fixture.overwrite(Playlist.self, 1, Array(row[..<14]))
    let store = try open(fixture, Song.self)
    let error = expectStoreError(.classOrder) { try store.register(Playlist.self) }
    #expect(error?.message.contains("Song") == true)
    #expect(error?.message.contains("Playlist") == true)
  }

  @Test("A store has at most 255 classes")
  func tooMany() throws {
    let fixture = try Fixture()
    let store = try open(fixture)
    func pair<A, B>(_ a: A.Type, _ b: B.Type) -> StoredObject.Type { Pair<A, B>.self }
    func nested<A, B>(_ a: A.Type, _ b: B.Type) -> Any.Type { (A, B).self }
    let markers: [any Marker.Type] = [M0.self, M1.self, M2.self, M3.self]
    var types: [Any.Type] = []
    for a in markers { for b in markers { types.append(nested(a, b)) } }
    var count = 0
    for a in types {
      for b in types {
        if count == 255 {
          expectStoreError(.tooManyClasses) { try store.register(pair(a, b)) }
        } else {
          try store.register(pair(a, b))
        }
        count += 1
      }
    }
    #expect(count == 256)
  }

  @Test("A class that is not registered is refused by name")
  func notRegistered() throws {
    let fixture = try Fixture()
    let store = try open(fixture, Song.self)
    let calls: [() throws -> Void] = [
      { _ = try store.allObjects(of: Playlist.self) }, { _ = try store.count(of: Playlist.self) },
      { _ = try store.object(Playlist.self, rowID: 2) },
      { _ = try store.cursor(over: Playlist.self) },
      { _ = try store.upgradeObjects(of: Playlist.self) },
    ]
    for call in calls {
      #expect(expectStoreError(.notRegistered, call)?.location.className == "Playlist")
    }
  }

  @Test("A damaged metadata row is refused, whatever its length", arguments: [0, 1, 5, 7, 13, 15])
  func damagedMetadata(_ length: Int) throws {
    let fixture = try Fixture()
    try saved(fixture)
    let row = try #require(try fixture.record(Song.self, 1))
    try fixture.overwrite(Song.self, 1, Array(row[..<length]))
    let error = expectStoreError(.damaged) { _ = try open(fixture, Song.self) }
    #expect(error?.location.rowID == 1 && error?.location.className == "Song")
    try fixture.overwrite(Song.self, 1, row + [0])
    expectStoreError(.damaged) { _ = try open(fixture, Song.self) }
    var flags = row
    flags[18] = 0x80
    try fixture.overwrite(Song.self, 1, flags)
    expectStoreError(.damaged) { _ = try open(fixture, Song.self) }
    try fixture.overwrite(Song.self, 1, nil)
    expectStoreError(.damaged) { _ = try open(fixture, Song.self) }
    try fixture.overwrite(Song.self, 1, row)
    #expect(try open(fixture, Song.self).allObjects(of: Song.self).map(\.title) == ["a"])
  }

  @Test("Metadata rows of the original, of 6 and of 14 bytes, are read and kept short")
  func originalMetadata() throws {
    for salt in [[], [1, 2, 3, 4, 5, 6, 7, 8]] as [[UInt8]] {
      let fixture = try Fixture(Song.self)
      try fixture.overwrite(Song.self, 1, [9, 0, 0, 0, 1, 0] + salt)
      try fixture.overwrite(Song.self, 5, [0, 1, 0, 0, 0, 97, 1, 0, 0, 0])
      let store = try fixture.store()
      let song = Song("b", 1)
      store.insert(song)
      #expect(song.rowID == 10)
      try store.saveChanges()
      let padded = salt.isEmpty ? Array(repeating: 0, count: 8) : salt
      #expect(try fixture.record(Song.self, 1) == [10, 0, 0, 0, 1, 0] + padded)
      #expect(try fixture.savedTitles() == ["a", "b"])
    }
  }
}

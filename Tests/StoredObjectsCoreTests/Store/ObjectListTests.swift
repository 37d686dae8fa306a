import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

/// Songs in an order.
private final class Album: StoredObject {
  @Content var songs: ObjectList<Song> = []
  override func readContent(from buffer: inout DataBuffer) throws {
    songs = try buffer.readList(of: Song.self)
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(songs) }
}

/// The same class before it had a list.
private final class ArrayAlbum: StoredObject {
  override class var storedName: String { "Album" }
  @Content var songs: [Song] = []
  override func readContent(from buffer: inout DataBuffer) throws {
    songs = try buffer.readObjects(of: Song.self)
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(songs) }
}

@Suite("Lists whose objects are created on access")
struct ObjectListTests {
  private let backend: MemoryBackend
  init() throws { backend = try MemoryBackend() }

  private func open(_ album: StoredObject.Type = Album.self) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Song.self, album)
    return store
  }

  /// Saves an album with a number of songs, and opens it again.
  private func savedAlbum(_ count: UInt32) throws -> (store: Store, album: Album) {
    let first = try open()
    let album = Album()
    first.insert(album)
    for number in 0..<count {
      let song = Song("song \(number)", number)
      first.insert(song)
      album.songs.append(song)
    }
    try first.saveChanges()
    let store = try open()
    return (store, try #require(try store.object(Album.self, rowID: album.rowID)))
  }

  private func livingSongs(_ store: Store) -> Int {
    store.registration(of: Song.self)?.livingObjects.count ?? 0
  }

  @Test("A list equals an array after the same operations, also after a save and a reload")
  func model() throws {
    var random = Seeds.generator(for: "object lists")
    let (first, _) = try savedAlbum(40)
    var store = first
    var album = try #require(try store.allObjects(of: Album.self).first)
    var model = try store.allObjects(of: Song.self)
    for step in 0..<3_000 {
      let songs = try store.allObjects(of: Song.self)
      change(&album.songs, &model, songs, &random)
      #expect(album.songs.rowIDs == model.map(\.rowID))
      #expect(Array(album.songs) == model)
      guard step.isMultiple(of: 37) else { continue }
      try store.saveChanges()
      let rows = model.map(\.rowID)
      store = try open()
      album = try #require(try store.allObjects(of: Album.self).first)
      model = try rows.map { try #require(try store.object(Song.self, rowID: $0)) }
      #expect(album.songs.rowIDs == rows)
    }
  }

  private func change(
    _ list: inout ObjectList<Song>, _ model: inout [Song], _ songs: [Song],
    _ random: inout some RandomNumberGenerator
  ) {
    guard let song = songs.randomElement(using: &random) else { return }
    let position = Int.random(in: 0...model.count, using: &random)
    let index = model.indices.randomElement(using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0:
      list.append(song)
      model.append(song)
    case 1:
      list.insert(song, at: position)
      model.insert(song, at: position)
    case 2:
      #expect(list.removeAll(song) == model.count { $0 === song })
      model.removeAll { $0 === song }
    case 3:
      list.replaceSubrange(0..<position / 2, with: [song, song])
      model.replaceSubrange(0..<position / 2, with: [song, song])
    case 4:
      #expect(list.firstIndex(of: song) == model.firstIndex { $0 === song })
      #expect(list.lastIndex(of: song) == model.lastIndex { $0 === song })
      #expect(list.contains(song) == model.contains { $0 === song })
    case 5:
      list.reverse()
      model.reverse()
    case 6 where index != nil:
      guard let index, let target = model.indices.randomElement(using: &random) else { return }
      list.move(from: index, to: target)
      model.insert(model.remove(at: index), at: target)
    case 7 where index != nil && model.count > 20:
      guard let index else { return }
      #expect(list.remove(at: index) === model.remove(at: index))
    default:
      guard let index else { return }
      list[index] = song
      model[index] = song
    }
  }

  @Test("Reading, counting, moving, inserting and removing create only the objects of the call")
  func packed() throws {
    let (store, album) = try savedAlbum(1_000)
    #expect(album.songs.count == 1_000)
    album.songs.move(from: 999, to: 0)
    album.songs.remove(at: 500)
    album.songs.removeLast(3)
    try store.saveChanges()
    #expect(livingSongs(store) <= 1)
    let song = try #require(album.songs.first)
    #expect(song.seconds == 999)
    #expect(livingSongs(store) == 1)
    album.songs.append(song)
    #expect(album.songs.firstIndex(of: song) == 0)
    #expect(album.songs.lastIndex(of: song) == 996)
    #expect(livingSongs(store) == 1)
  }

  @Test("The record equals that of an array: either reads the other's")
  func sameRecord() throws {
    let (store, album) = try savedAlbum(10)
    album.songs.move(from: 9, to: 3)
    try store.saveChanges()
    let other = try open(ArrayAlbum.self)
    let array = try #require(try other.allObjects(of: ArrayAlbum.self).first)
    #expect(array.songs.map(\.seconds) == [0, 1, 2, 9, 3, 4, 5, 6, 7, 8])
    array.songs.swapAt(0, 1)
    try other.saveChanges()
    let third = try open()
    let list = try #require(try third.allObjects(of: Album.self).first)
    #expect(list.songs.map(\.seconds) == [1, 0, 2, 9, 3, 4, 5, 6, 7, 8])
  }

  @Test("A new object in a list that was read is retained, and saved with it")
  func newObject() throws {
    let (store, album) = try savedAlbum(3)
    do {
      let song = Song("new", 77)
      store.insert(song)
      album.songs.insert(song, at: 1)
    }
    #expect(album.songs[1].title == "new")
    try store.saveChanges()
    let again = try open()
    #expect(try again.allObjects(of: Album.self).first?.songs.map(\.seconds) == [0, 77, 1, 2])
  }

  @Test("An object that is not in the store can be an element, and a save names it")
  func notInserted() throws {
    let (store, album) = try savedAlbum(3)
    let song = Song("later", 5)
    album.songs.append(song)
    #expect(album.songs.last === song)
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect(error?.code == .notEncodable)
    store.insert(song)
    try store.saveChanges()
    let again = try open()
    #expect(try again.allObjects(of: Album.self).first?.songs.count == 4)
  }

  @Test("A list with a deleted object can't be saved, until the object is removed from it")
  func deleted() throws {
    let (store, album) = try savedAlbum(5)
    let song = album.songs[2]
    store.delete(song)
    album.songs.move(from: 0, to: 4)
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect(error?.code == .notEncodable)
    album.songs.removeAll(song)
    try store.saveChanges()
    let again = try open()
    #expect(try again.allObjects(of: Album.self).first?.songs.map(\.seconds) == [1, 3, 4, 0])
  }

  @Test("A discarded object is detected, though its row was packed")
  func discarded() throws {
    let (store, album) = try savedAlbum(2)
    let song = Song("new", 9)
    store.insert(song)
    album.songs.append(song)
    let list = album.songs
    store.discardChanges()
    #expect(album.songs.count == 2)
    album.songs = list
    #expect(album.songs.last === song)
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect(error?.code == .notEncodable)
  }

  @Test(
    "Rows that were never assigned are an error with their offset",
    arguments: [0, 1, 12, UInt32.max])
  func unknownRow(rowID: UInt32) throws {
    let (store, _) = try savedAlbum(10)
    var buffer = DataBuffer([], store: store)
    for number: UInt32 in [3, 2, 3, rowID] { buffer.write(number) }
    buffer.end = 16
    let error = #expect(throws: DataBufferError.self) { try buffer.readList(of: Song.self) }
    #expect(error?.code == (rowID == 0 ? .invalidValue : .unknownRow))
    #expect(error?.offset == 12)
    #expect(buffer.offset == 4)
  }

  @Test("Lists are equal when they have the same objects in the same order")
  func equality() throws {
    let (store, album) = try savedAlbum(4)
    let songs = album.songs
    #expect(songs == songs)
    #expect(songs == ObjectList(songs.array))
    #expect(ObjectList(songs.array.reversed()) != songs)
    album.songs.move(from: 0, to: 1)
    #expect(album.songs != songs)
    #expect("\(songs)" == "Song[2, 3, 4, 5]")
    _ = store
  }
}

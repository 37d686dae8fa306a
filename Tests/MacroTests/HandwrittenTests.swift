#if Macros
  import Foundation
  import StoredObjects
  import Testing

  /// The class `Everything` without the macro, written with the methods of the buffer.
  private final class Handwritten: StoredObject {
    @Content var flag = false
    @Content var small: Int8 = 0
    @Content var large: UInt64 = 0
    @Content var text: String?
    @Content var bytes: [UInt8] = []
    @Content var genre = Genre.jazz
    @Content var size = Size()
    @Content var song: Song?
    @Content var songs: [Song] = []
    @Content var any: StoredObject?
    @Content var anys: [StoredObject] = []

    override class var storedName: String { "Both" }

    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(flag)
      buffer.write(small)
      buffer.write(large)
      buffer.write(text)
      buffer.write(bytes)
      buffer.write(genre)
      buffer.write(codable: size)
      buffer.write(song)
      buffer.write(songs)
      buffer.writeAny(any)
      buffer.writeAny(anys)
    }

    override func readContent(from buffer: inout DataBuffer) throws {
      flag = try buffer.readBool()
      small = try buffer.readInt8()
      large = try buffer.readUInt64()
      text = try buffer.read()
      bytes = try buffer.readBytes()
      genre = try buffer.read()
      size = try buffer.readCodable()
      song = try buffer.readObject(of: Song.self)
      songs = try buffer.readObjects(of: Song.self)
      any = try buffer.readAnyObject()
      anys = try buffer.readAnyObjects()
    }
  }

  @Stored private final class Generated: StoredObject {
    var flag: Bool = false
    var small: Int8 = 0
    var large: UInt64 = 0
    var text: String?
    var bytes: [UInt8] = []
    var genre: Genre = .jazz
    var size: Size = Size()
    var song: Song?
    var songs: [Song] = []
    var any: StoredObject?
    var anys: [StoredObject] = []

    override class var storedName: String { "Both" }
  }

  @Suite("Hand-written classes and stored ones")
  struct HandwrittenTests {
    private let size = Size(width: 1.5, kind: .round(radius: 2))

    @Test("A handwritten class reads the bytes of a stored one, and writes the same")
    func fromGenerated() throws {
      let disk = MemoryDisk()
      let bytes = try Session.run(disk, Artist.self, Song.self, Generated.self) { session in
        let (song, object) = (Song("a"), Generated())
        (object.flag, object.small, object.large, object.text) = (true, -1, 5, "x")
        (object.bytes, object.genre, object.size) = ([1, 2], .folk, size)
        (object.song, object.songs, object.any) = (song, [song, song], object)
        object.anys = [object, song]
        try session.save(song, object)
        return try session.record(Generated.self)
      }
      try Session.run(disk, Artist.self, Song.self, Handwritten.self) { session in
        let object = try #require(try session.store.object(Handwritten.self, rowID: 2))
        #expect(object.flag && object.small == -1 && object.large == 5 && object.text == "x")
        #expect(object.bytes == [1, 2] && object.genre == .folk && object.size == size)
        #expect(object.song?.title == "a" && object.songs.count == 2 && object.any === object)
        object.small = 7
        object.small = -1
        try session.store.saveChanges()
        #expect(try session.record(Handwritten.self) == bytes)
      }
    }

    @Test("A stored class reads the bytes of a handwritten one, and writes the same")
    func fromHandwritten() throws {
      let disk = MemoryDisk()
      let bytes = try Session.run(disk, Artist.self, Song.self, Handwritten.self) { session in
        let (song, object) = (Song("a"), Handwritten())
        (object.large, object.bytes, object.size) = (.max, [0], size)
        (object.songs, object.anys) = ([song], [song, object])
        try session.save(song, object)
        return try session.record(Handwritten.self)
      }
      try Session.run(disk, Artist.self, Song.self, Generated.self) { session in
        let object = try #require(try session.store.object(Generated.self, rowID: 2))
        #expect(object.large == .max && object.bytes == [0] && object.size == size)
        #expect(object.text == nil && object.song == nil && object.any == nil)
        #expect(object.songs.map(\.title) == ["a"] && object.anys == [object.songs[0], object])
        object.flag = true
        object.flag = false
        try session.store.saveChanges()
        #expect(try session.record(Generated.self) == bytes)
      }
    }
  }
#endif

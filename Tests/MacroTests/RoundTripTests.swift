#if Macros
  import Foundation
  import PlainClient
  import StoredObjects
  import Testing

  @Suite("Stored classes")
  struct RoundTripTests {
    private static let all: [StoredObject.Type] = [
      Artist.self, Song.self, Everything.self, Album.self, Single.self,
    ]

    private func session(_ disk: MemoryDisk) throws -> Session { try Session(disk, Self.all) }

    @Test("Every kind of property reads back")
    func everything() throws {
      let disk = MemoryDisk()
      let id = UUID()
      let size = Size(width: 2.5, unit: .init(name: "in"), kind: .round(radius: 3))
      let first = try session(disk)
      let (hello, goodbye, artist) = (Song("Hello", 1), Song("Goodbye", 2), Artist())
      let object = Everything()
      (object.flag, object.small, object.large) = (true, -5, .max)
      (object.ratio, object.single, object.text) = (0.1, 0.5, "a\0b")
      (object.data, object.bytes, object.date) = (
        Data([1, 2]), [3, 4], Date(timeIntervalSince1970: 9)
      )
      (object.id, object.genre, object.genres) = (id, .opera, [.folk, .opera])
      (object.size, object.sizes, object.counts) = (size, [size, Size()], ["a": 1, "b": 2])
      object.nested = [["x", nil], []]
      (object.song, object.songs, object.songSet) = (hello, [goodbye, hello, goodbye], [hello])
      (object.any, object.anys, object.anySet) = (artist, [hello, artist], [artist, hello])
      (object.class, object.maybeSize) = ("second", size)
      try first.save(hello, goodbye, artist, object)
      first.backend.close()

      let second = try session(disk)
      let read = try #require(try second.store.object(Everything.self, rowID: 2))
      #expect(read.flag && read.small == -5 && read.large == .max)
      #expect(read.ratio == 0.1 && read.single == 0.5 && read.text == "a\0b")
      #expect(read.data == Data([1, 2]) && read.bytes == [3, 4])
      #expect(read.date == Date(timeIntervalSince1970: 9) && read.id == id)
      #expect(read.genre == .opera && read.genres == [.folk, .opera])
      #expect(
        read.size == size && read.sizes == [size, Size()] && read.counts == ["a": 1, "b": 2])
      #expect(read.nested == [["x", nil], []])
      #expect(read.song?.title == "Hello")
      #expect(read.songs.map(\.title) == ["Goodbye", "Hello", "Goodbye"])
      #expect(read.songs[0] === read.songs[2] && read.songSet == [read.songs[1]])
      #expect(read.any is Artist && read.anys == [read.songs[1], read.any])
      #expect(read.anySet == Set(read.anys) && read.class == "second" && read.maybeSize == size)
    }

    @Test("Defaults, also nil, read back")
    func defaults() throws {
      let disk = MemoryDisk()
      let first = try session(disk)
      try first.save(Everything())
      first.backend.close()
      let second = try session(disk)
      let read = try #require(try second.store.object(Everything.self, rowID: 2))
      #expect(read.text == nil && read.date == nil && read.id == nil && read.maybeSize == nil)
      #expect(read.song == nil && read.songs.isEmpty && read.any == nil && read.size == Size())
    }

    @Test("Reading a property reads the record of a fault, and setting one is a change")
    func tracking() throws {
      let disk = MemoryDisk()
      let first = try session(disk)
      let object = Everything()
      let song = Song("a", 61)
      object.songs = [song]
      try first.save(song, object)
      #expect(!object.hasUnsavedChanges && !song.hasUnsavedChanges)
      first.backend.close()

      let second = try session(disk)
      let read = try #require(try second.store.object(Everything.self, rowID: 2))
      let fault = try #require(read.songs.first)
      #expect(!fault.hasContent)
      #expect(fault.minutes == 1 && fault.hasContent && !fault.hasUnsavedChanges)
      #expect(!read.hasUnsavedChanges)
      read.songs.append(fault)
      #expect(read.hasUnsavedChanges)
      fault.isPlaying = true
      #expect(!fault.hasUnsavedChanges)
      fault.title += "b"
      #expect(fault.hasUnsavedChanges)
      second.store.discardChanges()
      #expect(read.songs.count == 1 && fault.title == "a")
    }

    @Test("Changing a fault reads its record first, so that its other properties stay")
    func changingFault() throws {
      let disk = MemoryDisk()
      let first = try session(disk)
      let object = Everything()
      let song = Song("title", 5)
      object.song = song
      try first.save(song, object)
      first.backend.close()
      let second = try session(disk)
      try #require(try second.store.object(Everything.self, rowID: 2)?.song).seconds = 6
      try second.store.saveChanges()
      #expect(
        try second.record(Song.self) == "00 05 00 00 00 74 69 74 6C 65 06 00 00 00 00 00 00 00")
    }

    @Test("A list changes in place: appending to it does not copy it")
    func inPlace() {
      let object = Everything()
      object.bytes = Array(repeating: 0, count: 100)
      object.bytes.reserveCapacity(200)
      let before = unsafe object.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      object.bytes.append(1)
      let after = unsafe object.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      #expect(before == after)
    }

    @Test("A closure that changes the list being changed traps, and corrupts nothing")
    func exclusivity() async {
      await #expect(processExitsWith: .failure) {
        let object = Everything()
        object.sizes = [Size(), Size()]
        object.sizes.sort { _, _ in
          object.sizes.removeAll()
          return false
        }
      }
    }

    @Test("A property of an object that is in no store is a plain property")
    func detached() {
      let album = Album(title: "Abbey Road")
      album.label = "Apple"
      #expect(album.title == "Abbey Road" && album.label == "Apple")
      #expect(Song("x").made == 1 && Song("x").shout == "X" && Song.kind == "song")
    }

    @Test("A subclass writes the fields of its superclass first, and shares its versions")
    func inheritance() throws {
      #expect(Album.classVersion == 2 && Single.classVersion == 3)
      #expect(PublicAlbum.classVersion == 1 && PublicSingle.classVersion == 3)
      let disk = MemoryDisk()
      try Session.run(disk, Album.self, Single.self) { session in
        let single = Single(title: "Help!")
        (single.label, single.side, single.price) = ("Odeon", "B", 1)
        try session.save(single)
        #expect(
          try session.record(Single.self) == """
            03 05 00 00 00 48 65 6C 70 21 01 05 00 00 00 4F 64 65 6F 6E 01 00 00 00 42 \
            3F F0 00 00 00 00 00 00
            """)
      }
      try Session.run(disk, Album.self, Single.self) { session in
        let single = try #require(try session.store.object(Single.self, rowID: 2))
        #expect(single.title == "Help!" && single.label == "Odeon")
        #expect(single.side == "B" && single.price == 1)
      }
    }

    @Test("Classes compiled with the settings of other packages work the same")
    func plainClient() throws {
      let disk = MemoryDisk()
      try Session.run(disk, PublicSingle.self) { session in
        let single = PublicSingle()
        single.add("Help!")
        single.side = "B"
        try session.save(single)
      }
      try Session.run(disk, PublicSingle.self) { session in
        let single = try #require(try session.store.object(PublicSingle.self, rowID: 2))
        #expect(single.tracks == ["Help!"] && single.side == "B" && single.year == nil)
      }
      #expect(makeNote("x") !== makeNote("x"))
    }
  }
#endif

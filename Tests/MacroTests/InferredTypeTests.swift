#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  @Stored final class Inferred: StoredObject {
    var title = "untitled"
    var count = 0
    var below = -5
    var ratio = 0.5
    var flag = false
    var seconds = 60 * 60
    var small = 7 as UInt8
    var most = Int.max
    var greeting = "a" + "b"
    var lines = """
      one
        two
      """
    var words = ["a", "b"]
    var numbers = ["a": 1]
    var bytes = [UInt8]()
    var data = Data()
    var date = Date(timeIntervalSinceReferenceDate: 9)
    var id = UUID()
    var size = Size()
    var tags = Set<String>()
    var song = Song?.none
    var songs = [Song]()
    var list = ObjectList<Song>()
    var unsigned: UInt = 3
    @Indexed var number = 1
    @Since(1) var late = "\(1 + 1)"
    @Transient var cache = [Int: Song]()
  }

  @Suite("Properties without a type")
  struct InferredTypeTests {
    private let disk = MemoryDisk()

    @Test("Each has the type that Swift infers, and reads back")
    func roundTrip() throws {
      let id = UUID()
      try Session.run(disk, Song.self, Inferred.self) { session in
        let object = Inferred()
        let song = Song("a")
        (object.count, object.below, object.ratio, object.flag) = (1 << 40, -6, 0.25, true)
        (object.title, object.lines, object.words) = ("t", "l", ["w"])
        (object.numbers, object.bytes, object.data) = (["n": -1], [1], Data([2]))
        (object.date, object.id, object.size.width) = (Date(timeIntervalSince1970: 1), id, 3)
        (object.tags, object.song, object.songs) = (["t"], song, [song, song])
        (object.list, object.unsigned, object.number) = ([song], .max, 12)
        try session.save(song, object)
      }
      try Session.run(disk, Song.self, Inferred.self) { session in
        let read = try #require(try session.store.object(Inferred.self, rowID: 2))
        #expect(read.count == 1 << 40 && read.below == -6 && read.ratio == 0.25 && read.flag)
        #expect(read.title == "t" && read.lines == "l" && read.words == ["w"])
        #expect(read.numbers == ["n": -1] && read.bytes == [1] && read.data == Data([2]))
        #expect(read.date == Date(timeIntervalSince1970: 1) && read.id == id)
        #expect(read.size.width == 3 && read.tags == ["t"] && read.song?.title == "a")
        #expect(read.songs.count == 2 && read.list.count == 1 && read.unsigned == .max)
        #expect(try session.store.fetch(Inferred.self, where: \.number, is: 12) == [read])
      }
    }

    @Test("A new object has the defaults")
    func defaults() {
      let object = Inferred()
      #expect(object.lines == "one\n  two" && object.seconds == 3600 && object.small == 7)
      #expect(object.most == .max && object.greeting == "ab" && object.late == "2")
    }

    @Test("A record of an earlier version gives a new property its default")
    func earlier() throws {
      try Session.run(disk, Song.self, Inferred.self) { session in
        try session.save(Inferred())
        let record = try session.record(Inferred.self)
        try session.plant("00" + record.dropFirst(2).dropLast(15), Inferred.self)
      }
      try Session.run(disk, Song.self, Inferred.self) { session in
        let read = try session.store.object(Inferred.self, rowID: 2)
        #expect(read?.late == "2")
      }
    }

    @Test("A predicate compares a property with a literal")
    func predicates() throws {
      try Session.run(disk, Song.self, Inferred.self) { session in
        let (one, two) = (Inferred(), Inferred())
        one.count = 5
        try session.save(one, two)
        let found = try session.store.fetch(
          Inferred.self, where: #Predicate { $0.count > 4 && $0.number == 1 })
        #expect(found == [one])
      }
    }
  }
#endif

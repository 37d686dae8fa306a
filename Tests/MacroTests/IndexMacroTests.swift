#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  enum Medium: UInt8, DataBufferValue, IndexableValue { case vinyl, tape, disc }

  @Stored class Take: StoredObject {
    @Indexed @FullText(weight: 2) var title: String = ""
    @Indexed(unique: true) var number: Int64?
    @Indexed var medium: Medium = .vinyl
  }

  @Stored final class LiveTake: Take {
    #Index<LiveTake>([\.place, \.title])

    @FullText var place: String?
    var year: UInt16 = 0
  }

  @Stored final class Rack: StoredObject {
    #Index<Rack>([\.room, \.height, \.`case`], [\Rack.height])

    var room: String = ""
    var height: Double = 0
    var `case`: Bool = false
    @Indexed var first: Take?
    @Indexed var all: [Take] = []
    @Indexed var few: ObjectList<Take> = []
    @Indexed var loose: Set<Take> = []
  }

  @Stored final class Member: StoredObject {
    @Indexed(unique: true, folded: true) var name = ""
    @Indexed(folded: true) var note: String?
  }

  /// A class before it had indexes, with them, and with others.
  private enum Before {
    @Stored final class Disc: StoredObject {
      var title: String = ""
      var artist: String = ""
    }
  }
  private enum Behind {
    @Stored final class Disc: StoredObject {
      @Indexed @FullText var title: String = ""
      @Indexed @Formerly("artist") var performer: String = ""
    }
  }
  private enum Later {
    @Stored final class Disc: StoredObject {
      @Indexed var title: String = ""
      @Formerly("artist") var performer: String = ""
      @Since(1) @Indexed var year: UInt16 = 1999
    }
  }

  @Suite("Indexes by attributes")
  struct IndexMacroTests {
    private let disk = MemoryDisk()

    private func make(_ session: Session) throws -> [LiveTake] {
      let takes = (0..<40).map { number in
        let take = LiveTake()
        take.title = "Song \(number % 10)"
        take.place = number % 4 == 0 ? nil : "Place \(number % 4)"
        take.medium = number % 3 == 0 ? .tape : .disc
        take.number = number % 2 == 0 ? nil : Int64(number)
        session.store.insert(take)
        return take
      }
      try session.store.saveChanges()
      return takes
    }

    @Test("A subclass has the indexes of its superclass and its own, named by their properties")
    func names() {
      #expect(LiveTake.indexes.map(\.name) == ["title", "number", "medium", "place and title"])
      #expect(LiveTake.indexes.map(\.isUnique) == [false, true, false, false])
      #expect(LiveTake.fullTextAttributes.map(\.name) == ["title", "place"])
      #expect(LiveTake.fullTextAttributes.map(\.weight) == [2, 1])
      #expect(
        Rack.indexes.map(\.name)
          == ["first", "all", "few", "loose", "room and height and case", "height"])
    }

    @Test("A query uses them, and matches a scan of all objects")
    func queries() throws {
      try Session.run(disk, LiveTake.self, Rack.self) { session in
        let all = try make(session)
        let store = session.store
        let place = #Predicate<LiveTake> { $0.place == "Place 1" && $0.title > "Song 3" }
        #expect(
          try store.explain(LiveTake.self, where: place).indexes == ["place and title"])
        #expect(
          try store.fetch(LiveTake.self, where: place)
            == all.filter { $0.place == "Place 1" && $0.title > "Song 3" })
        let none = #Predicate<LiveTake> { $0.place == nil }
        #expect(try store.explain(LiveTake.self, where: none).indexes == ["place and title"])
        #expect(try store.count(of: LiveTake.self, where: none) == 10)
        let rack = Rack()
        (rack.room, rack.height, rack.case) = ("Hall", 1.5, true)
        session.store.insert(rack)
        try store.saveChanges()
        let hall = #Predicate<Rack> { $0.room == "Hall" && $0.height == 1.5 && $0.case == true }
        let plan = try store.explain(Rack.self, where: hall)
        #expect(plan.indexes == ["room and height and case"] && plan.isAnsweredByIndex)
        #expect(try store.fetch(Rack.self, where: hall) == [rack])
      }
    }

    @Test("Two objects with the same unique value are refused, except nil")
    func unique() throws {
      try Session.run(disk, LiveTake.self) { session in
        let all = try make(session)
        all[1].number = 3
        let error = #expect(throws: StoreError.self) { try session.store.saveChanges() }
        #expect(error?.code == .notUnique)
        #expect(error?.message.contains("\"number\"") == true)
        all[1].number = nil
        try session.store.saveChanges()
      }
    }

    @Test("A folded index finds texts, and refuses equal ones, without case and accents")
    func folded() throws {
      try Session.run(disk, Member.self) { session in
        let store = session.store
        let members = ["Beyoncé", "Zoë", "halo"].map { name in
          let member = Member()
          (member.name, member.note) = (name, name == "Zoë" ? nil : name.uppercased())
          store.insert(member)
          return member
        }
        try store.saveChanges()
        #expect(Member.indexes.map(\.name) == ["folded name", "folded note"])
        let name = #Predicate<Member> { $0.name.folded == "BEYONCE" }
        #expect(try store.explain(Member.self, where: name).indexes == ["folded name"])
        #expect(try store.fetch(Member.self, where: name) == [members[0]])
        let wanted = "Halo".folded
        let note = #Predicate<Member> { $0.note.folded == wanted }
        #expect(try store.explain(Member.self, where: note).indexes == ["folded note"])
        #expect(try store.fetch(Member.self, where: note) == [members[2]])
        members[2].name = "ZOE"
        let error = #expect(throws: StoreError.self) { try store.saveChanges() }
        #expect(error?.code == .notUnique)
      }
    }

    @Test("Referrers of an object are found by an index of a reference or of a list")
    func referrers() throws {
      try Session.run(disk, LiveTake.self, Take.self, Rack.self) { session in
        let store = session.store
        let take = Take()
        store.insert(take)
        let racks = (0..<6).map { _ in Rack() }
        racks.forEach(store.insert)
        racks[1].first = take
        racks[2].all = [take, take]
        racks[3].few = [take]
        racks[4].loose = [take]
        try store.saveChanges()
        #expect(try store.referrers(of: take, through: \Rack.first) == [racks[1]])
        #expect(try store.referrers(of: take, through: \Rack.all) == [racks[2]])
        #expect(try store.referrers(of: take, through: \Rack.few) == [racks[3]])
        #expect(try store.referrers(of: take, through: \Rack.loose) == [racks[4]])
        for name in ["first", "all", "few", "loose"] {
          let table = try session.backend.orderedTable(.init("Rack..by \(name)", kind: .index))
          // The stamp, and what is referred to; nil is a value, too.
          let count = try session.backend.keyCount(in: table, KeyRange())
          #expect(count == (name == "first" ? 7 : 2))
        }
      }
    }

    @Test("A search finds words of the superclass's texts and of the class's own")
    func search() throws {
      try Session.run(disk, LiveTake.self) { session in
        let all = try make(session)
        all[7].title = "Größe"
        all[8].place = "Große Freiheit"
        try session.store.saveChanges()
        let hits = try session.store.search(LiveTake.self, "gro* OR größe", limit: 5)
        #expect(hits.map(\.object) == [all[7], all[8]])
      }
    }

    @Test("A new index is built from the existing objects, and a removed one is emptied")
    func versions() throws {
      func keyCount(_ name: String, _ session: Session) throws -> Int {
        let table = try session.backend.orderedTable(.init("Disc..\(name)", kind: .index))
        return try session.backend.keyCount(in: table, KeyRange())
      }
      try Session.run(disk, Before.Disc.self) { session in
        for number in 0..<20 {
          let disc = Before.Disc()
          (disc.title, disc.artist) = ("T\(number)", "A\(number % 5)")
          session.store.insert(disc)
        }
        try session.store.saveChanges()
        #expect(try keyCount("by title", session) == 0)
      }
      try Session.run(disk, Behind.Disc.self) { session in
        let store = session.store
        let title = #Predicate<Behind.Disc> { $0.title == "T7" }
        #expect(try store.explain(Behind.Disc.self, where: title).indexesToBuild == ["title"])
        #expect(try store.count(of: Behind.Disc.self, where: title) == 1)
        let plan = try store.explain(Behind.Disc.self, where: title)
        #expect(plan.indexes == ["title"] && plan.touchedCount == 1)
        #expect(try keyCount("by title", session) == 21)
        #expect(
          try store.fetch(Behind.Disc.self, where: #Predicate { $0.performer == "A3" }).count == 4)
        let hits = try store.search(Behind.Disc.self, "T7", limit: 9)
        #expect(hits.map(\.object.performer) == ["A2"])
        #expect(try store.check().findings == [])
      }
      try Session.run(disk, Later.Disc.self) { session in
        let store = session.store
        let year = #Predicate<Later.Disc> { $0.year == 1999 }
        let none = #Predicate<Later.Disc> { $0.year == 2000 }
        #expect(try store.count(of: Later.Disc.self, where: year) == 20)
        #expect(try store.explain(Later.Disc.self, where: none).indexes == ["year"])
        try #require(try store.allObjects(of: Later.Disc.self).first).title = "New"
        try store.saveChanges()
        #expect(try keyCount("by title", session) == 21)
        #expect(try keyCount("by performer", session) == 0)
        #expect(try keyCount("text", session) == 0)
        #expect(try store.check().findings == [])
      }
    }
  }
#endif

#if Macros
  import MainActorClient
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  private enum Outer {
    @Stored final class Item: StoredObject {
      var name = ""
    }
  }

  @Stored final class Crate<Value: DataBufferValue & Sendable>: StoredObject {
    var value: Value?
    var values: [Value] = []
    var inner: Crate<Value>?
  }

  protocol Playable: AnyObject { var length: Int { get } }

  @Stored class Tune: StoredObject, Playable {
    var length = 0
    @Relationship(inverse: \Disc.tunes) var discs: [Disc] = []
  }

  @Stored final class LiveTune: Tune {
    var venue = ""
  }

  @Stored final class Talk: StoredObject, Playable {
    var length = 0
  }

  final class Silence: Playable {
    let length = 0
  }

  @Stored final class Disc: StoredObject {
    var first: Tune?
    var tunes: [Tune] = []
    var item: (any Playable)?
    var items: [any Playable] = []
  }

  @Suite("Nested, generic and derived classes, and protocol types")
  struct FreeClassTests {
    private let disk = MemoryDisk()

    @Test("A nested class is saved under its own name")
    func nested() throws {
      try Session.run(disk, Outer.Item.self) { session in
        let item = Outer.Item()
        item.name = "a"
        try session.save(item)
        #expect("\(item.id)" == "Item/2")
      }
      try Session.run(disk, Outer.Item.self) { session in
        let item = try session.store.object(Outer.Item.self, rowID: 2)
        #expect(item?.name == "a")
      }
    }

    @Test("A generic class is one class for each argument")
    func generic() throws {
      let classes: [StoredObject.Type] = [Crate<Int>.self, Crate<String>.self]
      let first = try Session(disk, classes)
      let (number, text) = (Crate<Int>(), Crate<String>())
      (number.value, number.values, number.inner) = (5, [1, 2], number)
      text.value = "a"
      try first.save(number, text)
      #expect("\(number.id)" == "Crate<Int>/2")
      first.backend.close()
      let second = try Session(disk, classes)
      let read = try #require(try second.store.object(Crate<Int>.self, rowID: 2))
      #expect(read.value == 5 && read.values == [1, 2] && read.inner === read)
      #expect(try second.store.object(Crate<String>.self, rowID: 2)?.value == "a")
    }

    private static let discClasses: [StoredObject.Type] = [
      Tune.self, LiveTune.self, Talk.self, Disc.self,
    ]

    @Test("References and lists hold objects of subclasses")
    func subclasses() throws {
      let first = try Session(disk, Self.discClasses)
      let (tune, live, disc) = (Tune(), LiveTune(), Disc())
      live.venue = "v"
      (disc.first, disc.tunes) = (live, [tune, live, tune])
      try first.save(tune, live, disc)
      #expect(live.discs == [disc])
      first.backend.close()
      let second = try Session(disk, Self.discClasses)
      let read = try #require(try second.store.object(Disc.self, rowID: 2))
      #expect((read.first as? LiveTune)?.venue == "v")
      #expect(read.tunes.map { $0 is LiveTune } == [false, true, false])
      second.store.delete(try #require(read.first))
      #expect(read.tunes.count == 2)
    }

    @Test("A property of a protocol type holds objects of every class that conforms")
    func protocols() throws {
      let first = try Session(disk, Self.discClasses)
      let (live, talk, disc) = (LiveTune(), Talk(), Disc())
      (live.length, talk.length) = (3, 4)
      (disc.item, disc.items) = (talk, [live, talk, live])
      try first.save(live, talk, disc)
      #expect(try first.record(Disc.self).hasSuffix("01 02 00 00 00"))
      first.backend.close()
      let second = try Session(disk, Self.discClasses)
      let read = try #require(try second.store.object(Disc.self, rowID: 2))
      #expect(read.item?.length == 4 && read.items.map(\.length) == [3, 4, 3])
      #expect(read.items[0] is LiveTune)
      disc.dissolveAllRelationships()
      #expect(disc.items.isEmpty && disc.item == nil)
    }

    @Test("A value of a protocol type that is not an object is refused by the save")
    func strangers() throws {
      try Session.run(disk, Tune.self, LiveTune.self, Talk.self, Disc.self) { session in
        let disc = Disc()
        disc.items = [Silence()]
        session.store.insert(disc)
        let error = #expect(throws: StoreError.self) { try session.store.saveChanges() }
        #expect((error?.underlying as? DataBufferError)?.code == .wrongClass)
      }
    }

    @Test("An object that no longer conforms is an error with its place")
    func nonconforming() throws {
      try Session.run(disk, Tune.self, LiveTune.self, Talk.self, Disc.self) { session in
        let disc = Disc()
        disc.item = Talk()
        session.store.insert(try #require(disc.item as? Talk))
        try session.save(disc)
        try session.plant(
          "00 00 00 00 00 00 00 00 00 03 02 00 00 00 00 00 00 00", Disc.self)
      }
      try Session.run(disk, Tune.self, LiveTune.self, Talk.self, Disc.self) { session in
        let error = #expect(throws: StoreError.self) {
          try session.store.object(Disc.self, rowID: 2)
        }
        #expect((error?.underlying as? DataBufferError)?.code == .wrongClass)
        #expect((error?.underlying as? DataBufferError)?.offset == 9)
      }
    }

    @Test("Every object is Identifiable, with an ID of its own class")
    func identity() throws {
      func identity<Object: Identifiable>(of object: Object) -> Object.ID { object.id }
      try Session.run(disk, Tune.self, LiveTune.self, Talk.self, Disc.self) { session in
        let (tune, live) = (Tune(), LiveTune())
        try session.save(tune, live)
        let typed: ObjectID<LiveTune> = live.id
        #expect(try session.store.object(typed) === live)
        let ids: [ObjectID<StoredObject>] = [tune.id, live.id]
        #expect(ids == [identity(of: tune), identity(of: live)])
        #expect(try session.store.object((live as Tune).id) === live)
      }
    }

    @Test("Classes of a module that is isolated to the main actor are saved there")
    @MainActor func mainActor() throws {
      let library = try Library(MemoryBackend(disk: disk))
      try library.add("a", seconds: 5)
      try library.close()
      let second = try Library(MemoryBackend(disk: disk))
      #expect(second.titles == ["a"] && second.bands == ["a"] && second.total == 5)
    }
  }
#endif

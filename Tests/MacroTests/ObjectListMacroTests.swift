#if Macros
  import Observation
  import StoredObjects
  import Synchronization
  import Testing

  @Stored private final class Mixtape: StoredObject {
    var name: String = ""
    @Relationship(inverse: \Cut.tapes) var cuts: ObjectList<Cut> = []
    @Relationship(deleteRule: .cascade) var owned: ObjectList<Cut> = []
  }

  @Stored private final class Cut: StoredObject {
    var name: String = ""
    var tapes: ObjectList<Mixtape> = []

    convenience init(_ name: String) {
      self.init()
      self.name = name
    }
  }

  /// The same class with arrays, written by hand.
  private final class ArrayMixtape: StoredObject {
    @Content var name = ""
    @Content var cuts: [Cut] = []
    @Content var owned: [Cut] = []

    override class var storedName: String { "Mixtape" }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(name)
      buffer.write(cuts)
      buffer.write(owned)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
      cuts = try buffer.readObjects(of: Cut.self)
      owned = try buffer.readObjects(of: Cut.self)
    }
  }

  @Suite("Lists whose objects are created on access, by @Stored")
  struct ObjectListMacroTests {
    private let disk = MemoryDisk()

    /// A tape that holds a twice, b, and owns c, as another process has left it.
    private func fill() throws {
      try Session.run(disk, Cut.self, Mixtape.self) { session in
        let (tape, a, b, c) = (Mixtape(), Cut("a"), Cut("b"), Cut("c"))
        (tape.name, tape.cuts, tape.owned) = ("x", [a, b, a], [c])
        try session.save(a, b, c, tape)
      }
    }

    @Test("Its record equals that of an array, in either direction")
    func bytes() throws {
      try fill()
      let record = try Session.run(disk, Cut.self, ArrayMixtape.self) { session in
        let tape = try #require(try session.store.object(ArrayMixtape.self, rowID: 2))
        #expect(tape.cuts.map(\.rowID) == [2, 3, 2] && tape.owned.map(\.rowID) == [4])
        let record = try session.record(ArrayMixtape.self)
        tape.name += ""
        try session.store.saveChanges()
        #expect(try session.record(ArrayMixtape.self) == record)
        return record
      }
      try Session.run(disk, Cut.self, Mixtape.self) { session in
        let tape = try #require(try session.store.object(Mixtape.self, rowID: 2))
        #expect(tape.cuts.map(\.name) == ["a", "b", "a"] && tape.owned.map(\.name) == ["c"])
        tape.name += ""
        try session.store.saveChanges()
        #expect(try session.record(Mixtape.self) == record)
      }
    }

    @Test("It is edited in place, and saved")
    func editing() throws {
      try fill()
      try Session.run(disk, Cut.self, Mixtape.self) { session in
        let tape = try #require(try session.store.object(Mixtape.self, rowID: 2))
        tape.cuts.move(from: 1, to: 0)
        #expect(tape.hasUnsavedChanges)
        tape.cuts.append(try #require(tape.owned.first))
        #expect(tape.owned[0].tapes == [tape])
        try session.store.saveChanges()
      }
      try Session.run(disk, Cut.self, Mixtape.self) { session in
        let tape = try #require(try session.store.object(Mixtape.self, rowID: 2))
        #expect(tape.cuts.map(\.name) == ["b", "a", "a", "c"])
        #expect(tape.cuts[3].tapes == [tape])
      }
    }

    @Test("Its inverse, its delete rules and undo are those of an array")
    func relationship() throws {
      try fill()
      try Session.run(disk, Cut.self, Mixtape.self) { session in
        let history = StoreUndoManager()
        session.store.undoManager = history
        let tape = try #require(try session.store.object(Mixtape.self, rowID: 2))
        let (a, c) = (tape.cuts[0], tape.owned[0])
        #expect(a.tapes == [tape, tape])
        history.group { session.store.delete(a) }
        #expect(tape.cuts.map(\.name) == ["b"])
        history.group { session.store.delete(tape) }
        #expect(c.isDeleted)
        try session.store.saveChanges()
        try history.undo()
        #expect(!c.isDeleted && tape.owned == [c] && tape.cuts.map(\.name) == ["b"])
        try history.undo()
        #expect(tape.cuts.map(\.name) == ["a", "b", "a"] && a.tapes == [tape, tape])
        try session.store.saveChanges()
      }
      try Session.run(disk, Cut.self, Mixtape.self) { session in
        let tape = try #require(try session.store.object(Mixtape.self, rowID: 2))
        #expect(tape.cuts.map(\.name) == ["a", "b", "a"] && tape.owned.map(\.name) == ["c"])
      }
    }

    @Test("It is observed by itself")
    func observation() throws {
      let session = try Session(disk, [Cut.self, Mixtape.self])
      let (tape, cut) = (Mixtape(), Cut("a"))
      try session.save(tape, cut)
      session.store.isObservable = true
      let count = Mutex(0)
      withObservationTracking {
        _ = tape.cuts.count
      } onChange: {
        count.withLock { $0 += 1 }
      }
      tape.owned.append(cut)
      #expect(count.withLock(\.self) == 0)
      tape.cuts.append(cut)
      #expect(count.withLock(\.self) == 1)
    }

    @Test("Objects in a cycle of lists release each other")
    func dissolving() throws {
      let session = try Session(disk, [Cut.self, Mixtape.self])
      weak var freed: Mixtape?
      do {
        let (tape, cut) = (Mixtape(), Cut("a"))
        (tape.cuts, cut.tapes) = ([cut], [tape])
        try session.save(tape, cut)
        freed = tape
      }
      #expect(freed != nil)
      session.store.dissolveAllRelationships()
      #expect(freed == nil)
    }
  }
#endif

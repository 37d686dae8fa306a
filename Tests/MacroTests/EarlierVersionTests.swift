#if Macros
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  /// A class that has changed four times.
  @Stored final class Track: StoredObject {
    var title: String = ""
    @Dropped(in: 2) var rating: UInt8 = 0
    @Formerly("seconds", UInt32.self, until: 3) var milliseconds: UInt64 = 0
    @Since(1) @Formerly("remark") var note: String?
    @Since(4) var stars: Double = 0.5
    @Transient var upgrades: [UInt8] = []

    private func upgrade(from version: UInt8, former: Former) {
      upgrades.append(version)
      if let seconds = former.seconds { milliseconds = UInt64(seconds) * 1000 }
      if version < 2 { stars = Double(former.rating) / 20 }
    }
  }

  /// The class as its first version had it.
  private enum First {
    @Stored final class Track: StoredObject {
      var title: String = ""
      var rating: UInt8 = 0
      var seconds: UInt32 = 0
    }
  }

  /// The first version with a field that says no version.
  private enum Careless {
    @Stored final class Track: StoredObject {
      var title: String = ""
      var rating: UInt8 = 0
      var seconds: UInt32 = 0
      var note: String = "none"
    }
  }

  /// Both classes of a hierarchy have their hook.
  @Stored class Parent: StoredObject {
    @Dropped(in: 1) var age: UInt8 = 0
    @Since(1) var born: UInt16 = 0

    private func upgrade(from version: UInt8, former: Former) throws {
      if version < 1 { born = 2000 - UInt16(former.age) }
    }
  }

  @Stored(version: 2) final class Child: Parent {
    var toy: String = ""
    private func upgrade(from version: UInt8) { toy += " (from \(version))" }
  }

  /// A record that an earlier version has left, and what the newest one makes of it.
  struct Fixture: Sendable, CustomTestStringConvertible {
    let version: UInt8
    let hex: String
    let milliseconds: UInt64
    let note: String?
    let stars: Double

    var testDescription: String { "version \(version)" }

    static let all = [
      Fixture(
        version: 0, hex: "00 01000000 61 50 3D000000", milliseconds: 61_000, note: nil, stars: 4),
      Fixture(
        version: 1, hex: "01 01000000 61 50 3D000000 01 02000000 6F6B", milliseconds: 61_000,
        note: "ok", stars: 4),
      Fixture(
        version: 2, hex: "02 01000000 61 3D000000 01 02000000 6F6B", milliseconds: 61_000,
        note: "ok", stars: 0.5),
      Fixture(
        version: 3, hex: "03 01000000 61 49EE000000000000 01 02000000 6F6B", milliseconds: 61_001,
        note: "ok", stars: 0.5),
      Fixture(
        version: 4, hex: "04 01000000 61 49EE000000000000 00 3FD0000000000000",
        milliseconds: 61_001, note: nil, stars: 0.25),
    ]
  }

  @Suite("Records of earlier versions")
  struct EarlierVersionTests {
    /// A disk with one track, whose record is this.
    private func disk(_ hex: String, _ type: StoredObject.Type = Track.self) throws -> MemoryDisk {
      let disk = MemoryDisk()
      try Session.run(disk, type) { session in
        try session.save(type.init())
        try session.plant(hex, type)
      }
      return disk
    }

    @Test("A record of any version is read without loss", arguments: Fixture.all)
    func reading(fixture: Fixture) throws {
      try Session.run(try disk(fixture.hex), Track.self) { session in
        let track = try #require(try session.store.object(Track.self, rowID: 2))
        #expect(track.title == "a" && track.milliseconds == fixture.milliseconds)
        #expect(track.note == fixture.note && track.stars == fixture.stars)
        #expect(track.upgrades == (fixture.version < 4 ? [fixture.version] : []))
        #expect(!track.hasUnsavedChanges)
      }
    }

    @Test("An upgrade rewrites the record, and it reads the same", arguments: Fixture.all)
    func upgrading(fixture: Fixture) throws {
      let disk = try disk(fixture.hex)
      try Session.run(disk, Track.self) { session in
        try session.store.upgradeObjects(of: Track.self)
        #expect(try session.record(Track.self).hasPrefix("04 01 00 00 00 61"))
      }
      try Session.run(disk, Track.self) { session in
        let track = try #require(try session.store.object(Track.self, rowID: 2))
        #expect(track.title == "a" && track.milliseconds == fixture.milliseconds)
        #expect(track.note == fixture.note && track.stars == fixture.stars)
        #expect(track.upgrades == [])
      }
    }

    @Test("The first fixture has the bytes of the first version")
    func firstVersion() throws {
      let disk = MemoryDisk()
      try Session.run(disk, First.Track.self) { session in
        let track = First.Track()
        (track.title, track.rating, track.seconds) = ("a", 80, 61)
        try session.save(track)
        let hex = Fixture.all[0].hex.filter { $0 != " " }
        #expect(try session.record(First.Track.self).filter { $0 != " " } == hex)
      }
    }

    @Test(
      "Properties missing in a record get their defaults, whatever values the object had before")
    func defaults() throws {
      try Session.run(try disk(Fixture.all[2].hex), Track.self) { session in
        let track = try #require(try session.store.object(Track.self, rowID: 2))
        track.stars = 3
        session.store.discardChanges()
        #expect(track.stars == 0.5)
      }
    }

    @Test("A program of the first version refuses records of a later one")
    func newer() throws {
      try Session.run(try disk(Fixture.all[3].hex, First.Track.self), First.Track.self) { session in
        let error = #expect(throws: StoreError.self) {
          _ = try session.store.object(First.Track.self, rowID: 2)
        }
        #expect(error?.code == .newerVersion)
      }
    }

    @Test("A new property without a version, in a store without layouts, is refused")
    func careless() throws {
      let disk = try disk(Fixture.all[0].hex, First.Track.self)
      try Session.run(disk, First.Track.self) { session in
        try session.backend.commit { $0.set("Track..layouts", nil) }
      }
      let error = #expect(throws: StoreError.self) { try Session(disk, [Careless.Track.self]) }
      #expect(error?.code == .changedLayout)
      #expect(error?.message.contains("those of version 0 don't have its properties") == true)
      try Session.run(disk, First.Track.self) { session throws in
        #expect(try session.store.object(First.Track.self, rowID: 2)?.seconds == 61)
      }
    }

    @Test("Each class of a hierarchy upgrades its own part, once")
    func hierarchy() throws {
      try Session.run(try disk("00 1E 01000000 61", Child.self), Child.self) { session in
        let child = try #require(try session.store.object(Child.self, rowID: 2))
        #expect(child.born == 1970 && child.toy == "a (from 0)")
      }
      try Session.run(try disk("01 B207 01000000 61", Child.self), Child.self) { session in
        let child = try #require(try session.store.object(Child.self, rowID: 2))
        #expect(child.born == 1970 && child.toy == "a (from 1)")
      }
    }
  }
#endif

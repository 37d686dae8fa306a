#if Macros
  import StoredObjects
  import Testing

  /// A record of LiveRecording that a version of the program has left, and what today's reads in
  /// it.
  private struct Left: Sendable, CustomTestStringConvertible {
    let version: UInt8
    let hex: String
    var milliseconds: UInt64 = 511_000
    var rating: UInt8 = 90
    var note: String? = "loud"
    var venue = Venue(name: "Oslo", seats: 8)
    var audience: UInt32 = 8

    var testDescription: String { "version \(version)" }

    /// The class that wrote it, as it was then.
    var type: any LiveRecordingClass.Type {
      let types: [any LiveRecordingClass.Type] = [
        Version0.LiveRecording.self, Version1.LiveRecording.self, Version2.LiveRecording.self,
        Version3.LiveRecording.self, LiveRecording.self,
      ]
      return types[Int(version)]
    }

    /// The class of its superclass then.
    var superclass: StoredObject.Type {
      [
        Version0.Recording.self, Version1.Recording.self, Version2.Recording.self,
        Version3.Recording.self, Recording.self,
      ][Int(version)]
    }

    private static let title = "07000000 4B6173686D6972"
    private static let loud = "01 04000000 6C6F7564"
    private static let oslo = "04000000 4F736C6F"

    static let earlier = [
      Left(
        version: 0, hex: "00 \(title) FF010000 5A \(oslo)", note: nil,
        venue: Venue(name: "Oslo", seats: 0), audience: 0),
      Left(
        version: 1, hex: "01 \(title) FF010000 5A \(loud) \(oslo)",
        venue: Venue(name: "Oslo", seats: 0), audience: 0),
      Left(version: 2, hex: "02 \(title) FF010000 5A \(loud) \(oslo) 08000000"),
      Left(
        version: 3, hex: "03 \(title) 12CD070000000000 \(loud) \(oslo) 08000000",
        milliseconds: 511_250, rating: 0),
    ]
  }

  @Suite("Records of each earlier version of a hierarchy")
  struct VersionFixtureTests {
    private func disk(_ left: Left) throws -> MemoryDisk {
      let disk = MemoryDisk()
      try Session.run(disk, left.superclass, left.type) { session in
        try session.save(left.type.init())
        try session.plant(left.hex, left.type)
      }
      return disk
    }

    private func expect(_ object: LiveRecording, of left: Left) {
      #expect(object.title == "Kashmir" && object.milliseconds == left.milliseconds)
      #expect(object.note == left.note && object.venue == left.venue)
      #expect(object.audience == left.audience && object.guests.isEmpty)
    }

    @Test(
      "Each version still writes its fixture, byte for byte", arguments: Left.earlier)
    private func writing(left: Left) throws {
      try Session.run(MemoryDisk(), left.superclass, left.type) { session in
        let object = left.type.init()
        object.fill()
        try session.save(object)
        let hex = try session.record(left.type)
        #expect(hex.filter { $0 != " " } == left.hex.filter { $0 != " " })
      }
    }

    @Test("Current classes read them, whatever versions were skipped", arguments: Left.earlier)
    private func reading(left: Left) throws {
      try Session.run(try disk(left), Recording.self, LiveRecording.self) { session in
        let object = try #require(try session.store.object(LiveRecording.self, rowID: 2))
        expect(object, of: left)
        #expect(object.hadRating == left.rating && !object.hasUnsavedChanges)
      }
    }

    @Test("An upgrade rewrites a record, and it reads the same", arguments: Left.earlier)
    private func upgrading(left: Left) throws {
      let disk = try disk(left)
      try Session.run(disk, Recording.self, LiveRecording.self) { session in
        let count = try session.store.upgradeObjects(of: LiveRecording.self)
        #expect(try count == 1 && session.record(LiveRecording.self).hasPrefix("04 "))
      }
      try Session.run(disk, Recording.self, LiveRecording.self) { session in
        let object = try #require(try session.store.object(LiveRecording.self, rowID: 2))
        expect(object, of: left)
        #expect(object.hadRating == 0)
      }
    }

    @Test("Version 3 of the program reads records of the versions before it", arguments: 0...2)
    private func earlierProgram(version: Int) throws {
      let left = Left.earlier[version]
      try Session.run(
        try disk(left), Version3.Recording.self, Version3.LiveRecording.self
      ) { session in
        let object = try #require(
          try session.store.object(Version3.LiveRecording.self, rowID: 2))
        #expect(object.title == "Kashmir" && object.milliseconds == left.milliseconds)
        #expect(object.note == left.note && object.place == "Oslo")
        #expect(object.audience == left.audience)
      }
    }

    @Test("An earlier program refuses records of a later one, and deletes nothing")
    func laterProgram() throws {
      for older in Left.earlier {
        for newer in Left.earlier where newer.version > older.version {
          try Session.run(try disk(newer), older.superclass, older.type) { session in
            let before = try session.record(older.type)
            let error = #expect(throws: StoreError.self) {
              try session.readAll(older.type)
            }
            #expect(error?.code == .newerVersion)
            #expect(try session.record(older.type) == before)
          }
        }
      }
    }

    @Test("Undo restores the content of a record of an earlier version")
    func undo() throws {
      try Session.run(try disk(Left.earlier[0]), Recording.self, LiveRecording.self) { session in
        let history = StoreUndoManager()
        session.store.undoManager = history
        let object = try #require(try session.store.object(LiveRecording.self, rowID: 2))
        history.group { object.venue.name = "Bergen" }
        try session.store.saveChanges()
        try history.undo()
        expect(object, of: Left.earlier[0])
      }
    }
  }
#endif

#if Macros
  import FoundationEssentials
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  @Suite("Layouts of classes")
  struct LayoutTests {
    /// A disk with a tune of the first program.
    private func drafts() throws -> MemoryDisk {
      let disk = MemoryDisk()
      try Session.run(disk, Drafts.Tune.self) { session throws in
        let tune = Drafts.Tune()
        (tune.title, tune.artist, tune.seconds) = ("Kashmir", "Zeppelin", 511)
        (tune.plays, tune.mood) = (9, .wild)
        try session.save(tune)
      }
      return disk
    }

    private func code(_ disk: MemoryDisk, _ types: StoredObject.Type...) -> StoreError? {
      #expect(throws: StoreError.self) { _ = try Session(disk, types) }
    }

    @Test("Properties that change places keep their values")
    func moved() throws {
      let disk = try drafts()
      for _ in 1...2 {
        try Session.run(disk, Moved.Tune.self) { session throws in
          let tune = try #require(try session.store.object(Moved.Tune.self, rowID: 2))
          #expect(tune.title == "Kashmir" && tune.artist == "Zeppelin")
          #expect(tune.seconds == 511 && tune.plays == 9 && tune.mood == .wild)
          tune.willUpdate()
          try session.store.saveChanges()
          #expect(try session.record(Moved.Tune.self).hasPrefix("01 01 08"))
        }
      }
    }

    @Test("Properties can be added, removed, renamed, widened or renumbered")
    func grown() throws {
      let disk = try drafts()
      var id: UUID?
      try Session.run(disk, Grown.Tune.self) { session throws in
        let tune = try #require(try session.store.object(Grown.Tune.self, rowID: 2))
        #expect(tune.name == "Kashmir" && tune.seconds == 511 && tune.plays == 9)
        #expect(tune.mood == .wild && tune.note == "none")
        id = tune.id
        tune.note = "long"
        try session.save(Grown.Tune())
      }
      try Session.run(disk, Grown.Tune.self) { session throws in
        let tunes = try session.store.allObjects(of: Grown.Tune.self)
        #expect(tunes.map(\.name) == ["Kashmir", ""] && tunes.map(\.note) == ["long", "none"])
        #expect(tunes.map(\.seconds) == [511, 7] && tunes[0].id == id && tunes[1].id != id)
        #expect(tunes.map(\.mood) == [.wild, .unknown] && tunes.map(\.plays) == [9, nil])
      }
    }

    @Test("A program that is open when a later one saves the class can't save it any more")
    func laterBeside() throws {
      try Session.run(try drafts(), Drafts.Tune.self) { earlier throws in
        let tune = try #require(try earlier.store.object(Drafts.Tune.self, rowID: 2))
        #expect(tune.title == "Kashmir")
        let later = Store(backend: earlier.backend, configuration: .init(checksumsRecords: false))
        try later.register(Grown.Tune.self)
        later.insert(Grown.Tune())
        try later.saveChanges()
        tune.title = "Cashmere"
        let error = #expect(throws: StoreError.self) { try earlier.store.saveChanges() }
        #expect(error?.code == .newerVersion && error?.location.className == "Tune")
        earlier.store.discardChanges()
        #expect(tune.title == "Kashmir")
      }
    }

    @Test("A new property gets another default in each object")
    func defaults() throws {
      let disk = try drafts()
      try Session.run(disk, Drafts.Tune.self) { try $0.save(Drafts.Tune()) }
      try Session.run(disk, Grown.Tune.self) { session throws in
        let ids = try session.store.allObjects(of: Grown.Tune.self).map(\.id)
        #expect(Set(ids).count == 2)
      }
    }

    @Test("A value of another type is converted as the class says")
    func converted() throws {
      try Session.run(try drafts(), Converted.Tune.self) { session throws in
        let tune = try #require(try session.store.object(Converted.Tune.self, rowID: 2))
        #expect(tune.title == "Kashmir" && tune.minutes == 511.0 / 60)
      }
    }

    @Test("A type that can lose values is refused, and the error shows both layouts")
    func refused() throws {
      let disk = try drafts()
      let error = try #require(code(disk, Refused.Tune.self))
      #expect(error.code == .changedLayout)
      #expect(error.message.contains("seconds: UInt32 is now seconds: Float"))
      #expect(error.message.contains("plays: UInt8 is now plays: Int8"))
      #expect(error.message.contains("@Converted(from: UInt32.self, by: …)"))
      #expect(error.message.contains("  artist: String     seconds: Float"))
      try Session.run(disk, Drafts.Tune.self) { session throws in
        #expect(try session.store.object(Drafts.Tune.self, rowID: 2)?.plays == 9)
      }
    }

    @Test("A case in the place of another is refused, unless the class says that they are the same")
    func cases() throws {
      let disk = try drafts()
      #expect(code(disk, Replaced.Tune.self)?.code == .changedLayout)
      try Session.run(disk, Renamed.Tune.self) { session throws in
        #expect(try session.store.object(Renamed.Tune.self, rowID: 2)?.mood == .loud)
      }
    }

    @Test("An older program reads its own records, and can't write")
    func older() throws {
      let disk = try drafts()
      try Session.run(disk, Grown.Tune.self) { try $0.save(Grown.Tune()) }
      try Session.run(disk, Drafts.Tune.self) { session throws in
        let tune = try #require(try session.store.object(Drafts.Tune.self, rowID: 2))
        #expect(tune.title == "Kashmir")
        let later = #expect(throws: StoreError.self) {
          _ = try session.store.object(Drafts.Tune.self, rowID: 3)
        }
        #expect(later?.code == .newerVersion)
        tune.title = "other"
        let error = #expect(throws: StoreError.self) { try session.store.saveChanges() }
        #expect(error?.code == .newerVersion)
      }
    }

    @Test("References become lists, and those of a class those of any")
    func references() throws {
      let disk = MemoryDisk()
      let others: [StoredObject.Type] = [Linked.Left.self, Linked.Right.self]
      try Session.run(disk, [Linked.Pair.self] + others) { session throws in
        let (pair, left) = (Linked.Pair(), Linked.Left())
        left.name = "l"
        session.store.insert(left)
        (pair.left, pair.others, pair.size) = (left, [left, left], Linked.Size(width: 4))
        try session.save(pair)
      }
      try Session.run(disk, [Widened.Pair.self] + others) { session throws in
        let pair = try #require(try session.store.object(Widened.Pair.self, rowID: 2))
        #expect(pair.left.map(\.name) == ["l"] && pair.size?.width == 4)
        #expect(pair.others.count == 2 && pair.others.allSatisfy { $0 === pair.left[0] })
      }
      let error = try #require(code(disk, Misled.Pair.self, Linked.Left.self, Linked.Right.self))
      #expect(error.code == .changedLayout)
      #expect(error.message.contains("left: Left? is now left: Right?"))
      #expect(error.message.contains("only the code of Size can read its values"))
    }

    @Test("A store from before layouts opens, and gets layouts with the next save")
    func earlier() throws {
      let disk = try drafts()
      try Session.run(disk, Drafts.Tune.self) { session throws in
        try session.backend.commit { $0.set("Tune..layouts", nil) }
      }
      try Session.run(disk, Drafts.Tune.self) { session throws in
        #expect(try session.store.object(Drafts.Tune.self, rowID: 2)?.title == "Kashmir")
        #expect(try session.backend.bufferNames() == [])
        try session.save(Drafts.Tune())
        #expect(try session.backend.bufferNames() == ["Tune..layouts"])
      }
      try Session.run(disk, Moved.Tune.self) { session throws in
        #expect(try session.store.allObjects(of: Moved.Tune.self).map(\.title) == ["Kashmir", ""])
      }
    }

    @Test("Layouts are not visible as buffers of the application")
    func names() throws {
      try Session.run(try drafts(), Drafts.Tune.self) { session throws in
        #expect(try session.store.bufferNames() == [])
        #expect(try session.backend.bufferNames() == ["Tune..layouts"])
        let error = #expect(throws: StoreError.self) {
          try session.store.setBuffer(named: "Tune..layouts") { $0.write(true) }
        }
        #expect(error?.code == .invalidName)
      }
    }

    @Test("Saving a known class writes no layouts")
    func unchanged() throws {
      let disk = try drafts()
      try Session.run(disk, Drafts.Tune.self) { session throws in
        let before = session.backend.lastCommitNumber
        try session.save(Drafts.Tune())
        let changes = try session.backend.changes(since: before)
        #expect(changes.names.isEmpty)
      }
    }
  }
#endif

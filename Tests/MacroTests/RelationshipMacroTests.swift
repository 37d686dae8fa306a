#if Macros
  import Observation
  import StoredObjects
  import Synchronization
  import Testing

  @Suite("Relationships and uniqueness by attributes")
  struct RelationshipMacroTests {
    private let disk = MemoryDisk()

    private func session() throws -> Session {
      try Session(disk, [Band.self, Record.self, Shelf.self, GlassShelf.self])
    }

    @Test("Both sides follow each other, and a cascade deletes what belongs to the object")
    func inverse() throws {
      let session = try session()
      let (band, a, b) = (Band("x"), Record("a"), Record("b"))
      try session.save(band, a, b)
      band.records = [a, b]
      #expect(a.band === band && b.band === band)
      b.band = nil
      #expect(band.records == [a])
      session.store.delete(a)
      #expect(band.records == [])
      a.band = nil
      session.store.insert(a)
      a.band = band
      session.store.delete(band)
      #expect(a.isDeleted && !b.isDeleted)
      try session.store.saveChanges()
    }

    @Test("A subclass has the relationships of its superclass and its own")
    func inheritance() throws {
      let session = try session()
      let (shelf, glass, record) = (Shelf(), GlassShelf(), Record("a"))
      try session.save(shelf, glass, record)
      glass.lamp = shelf
      glass.locks = [record]
      record.shelves = [shelf]
      #expect(shelf.records == [record])
      session.store.delete(shelf)
      #expect(glass.lamp == nil && record.shelves == [])
      session.store.delete(glass)
      #expect(throws: StoreError.self) { try session.store.saveChanges() }
      session.store.delete(record)
      try session.store.saveChanges()
    }

    @Test("A unique property is enforced, found and updated")
    func unique() throws {
      let session = try session()
      try session.save(Band("x"))
      session.store.insert(Band("x"))
      let error = #expect(throws: StoreError.self) { try session.store.saveChanges() }
      #expect(error?.code == .notUnique)
      session.store.discardChanges()
      let band = try session.store.insertOrUpdate(Band("x"))
      #expect(band.rowID == 2)
      #expect(try session.store.object(Band.self, where: \.name, is: "x") === band)
    }

    @Test("Undo of edits, inserts and deletions restores the other sides")
    func undo() throws {
      let session = try session()
      let history = StoreUndoManager()
      session.store.undoManager = history
      let (band, record) = (Band("x"), Record("a"))
      history.group("Add") {
        session.store.insert(band)
        session.store.insert(record)
      }
      history.group("Link") { band.records.append(record) }
      history.group("Rename") { record.title += "b" }
      try session.store.saveChanges()
      history.group("Delete") { session.store.delete(band) }
      #expect(record.isDeleted)
      try history.undo()
      #expect(!record.isDeleted && record.band === band && record.title == "ab")
      try history.undo()
      try history.undo()
      #expect(record.band == nil && band.records == [] && record.title == "a")
      try session.store.saveChanges()
      while history.canRedo { try history.redo() }
      #expect(record.isDeleted && band.isDeleted)
    }

    @Test("Each property is observed by itself")
    func observation() throws {
      let session = try session()
      let (band, record) = (Band("x"), Record("a"))
      try session.save(band, record)
      session.store.isObservable = true
      let told = Mutex<[String]>([])
      withObservationTracking {
        _ = record.title
      } onChange: {
        told.withLock { $0 += ["title"] }
      }
      withObservationTracking {
        _ = record.band
      } onChange: {
        told.withLock { $0 += ["band"] }
      }
      record.year = 1999
      #expect(told.withLock(\.self) == [])
      record.title = "b"
      #expect(told.withLock(\.self) == ["title"])
      band.records = [record]
      #expect(record.band === band && told.withLock(\.self) == ["title", "band"])
    }

    @Test("Objects in a cycle release each other")
    func dissolving() throws {
      let session = try session()
      weak var freed: Band?
      do {
        let (band, record) = (Band("x"), Record("a"))
        band.records = [record]
        record.band = band
        try session.save(band, record)
        freed = band
      }
      #expect(freed != nil)
      session.store.dissolveAllRelationships()
      #expect(freed == nil)
    }
  }
#endif

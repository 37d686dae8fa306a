#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  @Stored final class Verse: StoredObject {
    @Indexed var title = ""
    var line = 0
    var next: Verse?
  }

  @Stored final class Refrain: StoredObject {
    var text = ""
  }

  /// A type whose bytes only its own code can read.
  struct Meter: DataBufferValue, Hashable {
    var feet: [UInt8] = []

    static var minimumByteCount: Int { 1 }

    init(_ feet: [UInt8] = []) { self.feet = feet }

    init(from buffer: inout DataBuffer) throws(DataBufferError) {
      for _ in 0..<(try buffer.readUInt8()) { feet.append(try buffer.readUInt8()) }
    }

    func write(to buffer: inout DataBuffer) {
      buffer.write(UInt8(feet.count))
      for foot in feet { buffer.write(foot) }
    }
  }

  @Stored final class Ode: StoredObject {
    var meter = Meter()
    var title: String?
    var rhythm = Meter()
    var verses: [Verse] = []
  }

  @Suite("The history of objects")
  struct CommitHistoryTests {
    private let backend: MemoryBackend

    init() throws { backend = try MemoryBackend() }

    private func store(_ author: String = "") throws -> Store {
      var configuration = StoreConfiguration()
      configuration.author = author
      let store = Store(backend: backend, configuration: configuration)
      try store.register(Verse.self, Refrain.self)
      return store
    }

    private func verse(_ title: String, _ line: Int) -> Verse {
      let verse = Verse()
      (verse.title, verse.line) = (title, line)
      return verse
    }

    @Test("It has inserts, updates and deletes, with the old and the new values")
    func changes() throws {
      let store = try store("Ann")
      let first = verse("a", 1)
      store.insert(first)
      try store.saveChanges()
      try backend.beginHistory()
      let second = verse("b", 2)
      store.insert(second)
      (first.line, first.next) = (7, second)
      try store.saveChanges()
      store.delete(second)
      first.next = nil
      try store.saveChanges()

      let commits = try store.history()
      #expect(commits.map(\.commit.author) == ["Ann", "Ann"])
      let kinds = commits.map { Set($0.changes.map(\.kind)) }
      #expect(kinds == [[.inserted, .updated], [.deleted, .updated]])
      let update = try #require(commits[0].changes.first { $0.kind == .updated })
      #expect(update.id.description == "Verse/2")
      #expect(update.changedProperties == ["line", "next"])
      #expect(update.old?["line"] == .int(1) && update.new?["line"] == .int(7))
      #expect(update.old?["next"] == .null && update.new?["next"] == .string("Verse/3"))
      let insertion = try #require(commits[0].changes.first { $0.kind == .inserted })
      #expect(insertion.old == nil && insertion.new?["title"] == .string("b"))
      #expect(insertion.changedProperties == ["line", "next", "title"])
      let deletion = try #require(commits[1].changes.first { $0.kind == .deleted })
      #expect(deletion.old?["title"] == .string("b") && deletion.new == nil)
    }

    @Test("Properties of custom types have their bytes, and those behind them their values")
    func customTypes() throws {
      let store = try store()
      try store.register(Ode.self)
      let (ode, verse) = (Ode(), verse("a", 1))
      (ode.meter, ode.rhythm) = (Meter([1, 2]), Meter([7]))
      ode.verses = [verse, verse]
      store.insert(verse)
      store.insert(ode)
      try store.saveChanges()
      try backend.beginHistory()
      ode.title = "To autumn"
      ode.verses.append(verse)
      try store.saveChanges()
      ode.meter.feet.append(3)
      try store.saveChanges()
      let changes = try store.history(of: [Ode.self]).map(\.changes[0])
      #expect(changes.map(\.changedProperties) == [["title", "verses"], ["meter"]])
      #expect(changes[0].old?["title"] == .null && changes[0].new?["title"] == "To autumn")
      #expect(changes[0].new?["verses"] == ["Verse/2", "Verse/2", "Verse/2"])
      #expect(changes[1].old?["meter"] == ["bytes": "AgEC"])
      #expect(changes[1].new?["meter"] == ["bytes": "AwECAw=="])
      #expect(changes[1].new?["rhythm"] == changes[0].old?["rhythm"])
      let start = try #require(try backend.historyStart())
      let all = try store.differences(from: start, to: backend.lastCommitNumber, of: [Ode.self])
      #expect(all.map(\.changedProperties) == [["meter", "title", "verses"]])
      // Without the class of the program, only the whole record is known.
      let stranger = Store(backend: backend)
      let unknown = try stranger.history(of: [Ode.self]).map(\.changes[0])
      #expect(unknown.map(\.changedProperties) == [[], []])
      #expect(unknown[0].old?.bytes != nil && unknown[0].old?.bytes != unknown[0].new?.bytes)
    }

    @Test("Classes, authors, a number and a limit select commits")
    func filters() throws {
      let (ann, bob) = (try store("Ann"), try store("Bob"))
      try backend.beginHistory()
      for number in 1...3 {
        ann.insert(verse("\(number)", number))
        try ann.saveChanges()
        bob.insert(Refrain())
        try bob.saveChanges()
      }
      #expect(try ann.history().count == 6)
      #expect(try ann.history(of: [Refrain.self]).map(\.commit.author) == ["Bob", "Bob", "Bob"])
      #expect(try ann.history(authors: ["Ann"], limit: 2).count == 2)
      let last = try #require(try ann.history(limit: 4).last?.commit.number)
      #expect(try ann.history(after: last).count == 2)
      #expect(try ann.history(limit: 0).isEmpty)
      try backend.purgeHistory(through: last)
      let failure = #expect(throws: StoreError.self) { _ = try ann.history(after: last - 1) }
      #expect(failure?.code == .historyExpired)
      #expect(try ann.history().count == 2)
    }

    @Test("Other stores, indexes and queries see a store that is reverted, and reverted again")
    func reverting() throws {
      let (store, other) = (try store(), try store())
      for number in 1...20 { store.insert(verse("old \(number)", number)) }
      try store.saveChanges()
      try backend.beginHistory()
      let number = backend.lastCommitNumber
      let seen = try other.allObjects(of: Verse.self)
      for verse in try store.allObjects(of: Verse.self) where verse.line > 5 {
        verse.title = "new \(verse.line)"
      }
      try #require(try store.first(Verse.self, where: \.title, is: "old 3")).line = 33
      try store.saveChanges()
      store.delete(try #require(try store.first(Verse.self, where: \.title, is: "old 4")))
      try store.saveChanges()
      other.mergeChanges()
      #expect(try other.fetch(Verse.self, where: #Predicate { $0.title >= "old" }).count == 4)
      let later = backend.lastCommitNumber

      try backend.revert(toCommit: number)
      for store in [store, other] {
        store.mergeChanges()
        #expect(try store.fetch(Verse.self, where: #Predicate { $0.title >= "old" }).count == 20)
        #expect(try store.first(Verse.self, where: \.title, is: "new 9") == nil)
        #expect(try store.first(Verse.self, where: \.title, is: "old 3")?.line == 3)
        #expect(try store.check().isSound)
      }
      #expect(seen.map(\.title).sorted() == (1...20).map { "old \($0)" }.sorted())
      try backend.revert(toCommit: later)
      store.mergeChanges()
      #expect(try store.fetch(Verse.self, where: #Predicate { $0.title >= "old" }).count == 4)
      #expect(try backend.revert(toCommit: backend.lastCommitNumber) == nil)
    }

    @Test(
      "A snapshot as of an earlier commit has its objects, and finds them by index and by search")
    func earlierStore() throws {
      let store = try store()
      try backend.beginHistory()
      for line in 1...200 { store.insert(verse(line % 2 == 0 ? "even" : "odd", line)) }
      try store.saveChanges()
      let commit = backend.lastCommitNumber
      for verse in try store.allObjects(of: Verse.self) where verse.line > 50 {
        if verse.line % 3 == 0 { store.delete(verse) } else { verse.title = "later" }
      }
      try store.saveChanges()
      let container = try StoreContainer(backend: backend, classes: [Verse.self, Refrain.self])
      let earlier = try container.snapshot(asOf: commit).makeStore()
      #expect(try earlier.count(of: Verse.self) == 200)
      #expect(try earlier.count(of: Verse.self, where: #Predicate { $0.title == "even" }) == 100)
      #expect(try earlier.count(of: Verse.self, where: #Predicate { $0.title == "later" }) == 0)
      #expect(try store.count(of: Verse.self, where: #Predicate { $0.title == "later" }) > 50)
      #expect(throws: StoreError.self) {
        earlier.insert(verse("never", 0))
        try earlier.saveChanges()
      }
    }

    @Test("Two commits differ in the objects that were changed and not changed back")
    func differences() throws {
      let store = try store()
      let (first, second, third) = (verse("a", 1), verse("b", 2), verse("c", 3))
      for verse in [first, second, third] { store.insert(verse) }
      try store.saveChanges()
      try backend.beginHistory()
      let start = backend.lastCommitNumber
      (first.line, second.line) = (10, 20)
      try store.saveChanges()
      let middle = backend.lastCommitNumber
      (first.line, second.line) = (1, 21)
      store.delete(third)
      try store.saveChanges()
      let end = backend.lastCommitNumber
      let found = try store.differences(from: start, to: end)
      #expect(found.map(\.kind) == [.updated, .deleted])
      #expect(found[0].old?["line"] == .int(2) && found[0].new?["line"] == .int(21))
      let back = try store.differences(from: end, to: start, of: [Verse.self])
      #expect(back.map(\.kind) == [.updated, .inserted])
      #expect(back.map(\.old) == found.map(\.new) && back.map(\.new) == found.map(\.old))
      #expect(try store.differences(from: start, to: middle).count == 2)
      #expect(try store.differences(from: middle, to: middle).isEmpty)
      #expect(throws: StoreError.self) { try store.differences(from: start, to: end + 1) }
      #expect(throws: StoreError.self) { try store.differences(from: start - 1, to: end) }
    }

    @Test("A single commit is undone, and later commits stay")
    func undoCommit() throws {
      let (ann, bob) = (try store("Ann"), try store("Bob"))
      ann.undoManager = StoreUndoManager()
      let (first, second, third) = (verse("a", 1), verse("b", 2), verse("c", 3))
      for verse in [first, second, third] { ann.insert(verse) }
      try ann.saveChanges()
      try backend.beginHistory()
      // Ann's commit: changes one, deletes one, inserts one.
      let fourth = verse("d", 4)
      (first.title, first.next) = ("A", fourth)
      ann.insert(fourth)
      ann.delete(third)
      try ann.setBuffer(named: "Best") { $0.write(7) }
      try ann.saveChanges()
      let mine = backend.lastCommitNumber
      try bob.allObjects(of: Verse.self).first { $0.title == "b" }?.line = 20
      try bob.saveChanges()
      let theirs = backend.lastCommitNumber

      ann.mergeChanges()
      try ann.undo(commit: mine)
      try ann.saveChanges()
      #expect(try titles() == ["a 1", "b 20", "c 3"])
      #expect(try store().first(Verse.self, where: \.title, is: "c")?.line == 3)
      #expect(try ann.buffer(named: "Best") == nil)
      #expect(try store().check().findings.isEmpty)
      // The undo is a step of the undo manager.
      try ann.undoManager?.undo()
      try ann.saveChanges()
      #expect(try titles() == ["A 1", "b 20", "d 4"])

      let error = #expect(throws: StoreError.self) {
        second.line = 21
        try ann.undo(commit: theirs)
      }
      #expect(error?.code == .conflict && error?.location.rowID == second.rowID)
      #expect(second.line == 21)
      #expect(throws: StoreError.self) { try ann.undo(commit: 0) }
      #expect(throws: StoreError.self) { try ann.undo(commit: 999) }
    }

    private func titles() throws -> [String] {
      try store().allObjects(of: Verse.self).map { "\($0.title) \($0.line)" }.sorted()
    }
  }
#endif

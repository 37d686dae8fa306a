#if Macros
  import Observation
  import StoredObjects
  import Testing

  @Stored private final class Clock: StoredObject {
    var title: String = ""
    var hour: UInt8 = 0
  }

  @Suite("Sequences of what a property is")
  @MainActor struct ObservationsTests {
    @Test("Observations gives each state of a property, and undo is one")
    func edits() async throws {
      let session = try Session(MemoryDisk(), [Clock.self])
      let clock = Clock()
      try session.save(clock)
      session.store.isObservable = true
      let history = StoreUndoManager()
      session.store.undoManager = history
      var titles = Observations { clock.title }.makeAsyncIterator()
      #expect(await titles.next() == "")
      clock.title = "a"
      #expect(await titles.next() == "a")
      history.group { clock.title = "b" }
      #expect(await titles.next() == "b")
      try history.undo()
      #expect(await titles.next() == "a")
    }
  }
#endif

#if Macros
  import Observation
  import StoredObjects
  import Testing

  @Stored private final class Clock: StoredObject {
    var title: String = ""
    var hour: UInt8 = 0
  }

  /// Written by hand, so observed as a whole.
  private final class Bell: StoredObject {
    @Content var tone = ""
    override func writeContent(to buffer: inout DataBuffer) { buffer.write(tone) }
    override func readContent(from buffer: inout DataBuffer) throws {
      tone = try buffer.readString()
    }
  }

  @MainActor private final class Heard {
    var tones: [String] = []
  }

  @Suite("Sequences of the values of a property")
  @MainActor struct ObservationsTests {
    @Test("Observations returns each state of a property, and undo is one")
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

    @Test("A loop over them runs once for each, also of a handwritten class")
    func loop() async throws {
      let session = try Session(MemoryDisk(), [Bell.self])
      let bell = Bell()
      try session.save(bell)
      session.store.isObservable = true
      let heard = Heard()
      let ringing = Task { @MainActor in
        for tone in ["c", "d", "e"] {
          // Until the loop has seen the one before.
          while heard.tones.last != bell.tone { await Task.yield() }
          bell.tone = tone
        }
      }
      for await tone in Observations({ bell.tone }) {
        heard.tones.append(tone)
        if tone == "e" { break }
      }
      await ringing.value
      #expect(heard.tones == ["", "c", "d", "e"])
    }
  }
#endif

#if DEBUG
  import Testing

  @testable import StoredObjectsCore

  /// Tests that broken invariants end the program in debug builds.
  @Suite("Invariants of living objects") struct InvariantTests {
    @Test("Two objects for a row")
    func twice() async {
      await #expect(processExitsWith: .failure) {
        let (table, songs) = (UniquingTable(), [Song("", 1), Song("", 1)])
        for song in songs { table.enter(song, 7) }
      }
    }

    @Test("A row removed in place of another")
    func removed() async {
      await #expect(processExitsWith: .failure) {
        let (table, song) = (UniquingTable(), Song("", 1))
        table.enter(song, 7)
        table.remove(8)
      }
    }
  }
#endif

#if DEBUG
  import Testing

  @testable import CDB

  /// Tests that broken invariants end the program in debug builds.
  @Suite("Invariants of writing a constant database") struct InvariantTests {
    @Test("A record without a place")
    func slots() async {
      await #expect(processExitsWith: .failure) {
        var index = CDBIndex(.classic)
        index.add(.init(hash: 0, position: 2048))
        index.add(.init(hash: 0, position: 0))
        _ = index.slots(of: 0..<2)
      }
    }
  }
#endif

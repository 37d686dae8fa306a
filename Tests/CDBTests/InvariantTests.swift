#if DEBUG
  import Testing

  @testable import CDB

  /// What debug builds assert stops a program that breaks it.
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

#if DEBUG
  import Testing

  @testable import TokyoCabinetFile

  /// What debug builds assert stops a program that breaks it.
  @Suite("Invariants of a hash file that is written") struct InvariantTests {
    @Test("Records that are not aligned")
    func alignment() async {
      await #expect(processExitsWith: .failure) {
        var offsets = AlignedOffsets(alignmentPower: 4)
        offsets.append(16)
        offsets.append(40)
      }
    }

    @Test("Records that go back")
    func order() async {
      await #expect(processExitsWith: .failure) {
        var offsets = AlignedOffsets(alignmentPower: 4)
        offsets.append(32)
        offsets.append(16)
      }
    }
  }
#endif

#if DEBUG
  import Testing

  @testable import TokyoCabinetFile

  /// Tests that broken invariants end the program in debug builds.
  @Suite("Invariants of writing a hash file") struct InvariantTests {
    @Test("Records that are not aligned")
    func alignment() async {
      await #expect(processExitsWith: .failure) {
        var offsets = AlignedOffsets(alignmentPower: 4)
        offsets.append(16)
        offsets.append(40)
      }
    }

    @Test("Records with decreasing offsets")
    func order() async {
      await #expect(processExitsWith: .failure) {
        var offsets = AlignedOffsets(alignmentPower: 4)
        offsets.append(32)
        offsets.append(16)
      }
    }
  }
#endif

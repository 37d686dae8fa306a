import CDB
import FormatFuzzing
import StoredObjectsTestSupport
import Testing

@Suite("Damaged files, as ./dev fuzz cdb makes them")
struct FuzzTests {
  @Test(
    "No damage makes the reader crash, hang or contradict itself", arguments: CDBFormat.allCases)
  func damaged(format: CDBFormat) throws {
    var run = FuzzRun(FuzzedCDB(format), seed: Seeds.current)
    for round in 0..<500 { try run.run(round: UInt64(round), limit: .seconds(5)) }
    print(run.summary)
  }

  @Test("The same is true of files that led a fuzzer to new code", arguments: CDBFormat.allCases)
  func corpus(format: CDBFormat) throws {
    let counts = try FuzzCorpus.read(FuzzedCDB(format))
    #expect(counts.sound > 0 && counts.refused > 3)
  }
}

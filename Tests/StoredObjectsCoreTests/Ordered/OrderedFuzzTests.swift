import FormatFuzzing
import StoredObjectsTestSupport
import Testing

@Suite("Damaged files of ordered tables, as ./dev fuzz ordered makes them")
struct OrderedFuzzTests {
  @Test("No damage makes the reader crash, hang or contradict itself")
  func damaged() throws {
    var run = FuzzRun(FuzzedOrderedFile(), seed: Seeds.current)
    for round in 0..<500 { try run.run(round: UInt64(round), limit: .seconds(5)) }
    print(run.summary)
  }

  @Test("Damage is never taken for a sound file")
  func noticed() throws {
    var random = Seeds.generator(for: "damaged ordered files")
    let format = FuzzedOrderedFile()
    for _ in 0..<300 {
      let file = try format.makeFile(&random)
      #expect(try format.read(file))
      var spoilt = file
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        spoilt[Int.random(in: 0..<file.count, using: &random)] ^=
          1 << UInt8.random(in: 0..<8, using: &random)
      }
      if spoilt != file { #expect(try !format.read(spoilt)) }
      let count = Int.random(in: 0..<file.count, using: &random)
      #expect(try !format.read(Array(file.prefix(count))))
    }
  }

  @Test("Nor do the files that led the reader to new places")
  func corpus() throws {
    let counts = try FuzzCorpus.read(FuzzedOrderedFile())
    #expect(counts.sound > 0 && counts.refused > 0)
  }
}

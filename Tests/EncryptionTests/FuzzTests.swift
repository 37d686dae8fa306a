import FormatFuzzing
import StoreFormats
import StoredObjectsTestSupport
import Testing

@Suite("Damaged encrypted stores")
struct EncryptedFuzzTests {
  @Test("A damaged key file is refused, or opens the same store")
  func keyFiles() throws {
    try run(FuzzedKeyFile(), rounds: 300)
  }

  @Test(
    "A damaged store is refused, or its data is the saved data",
    arguments: [StoreFormat.tokyoCabinet, .cdb])
  func stores(_ kind: StoreFormat) throws {
    try run(FuzzedSealedStore(kind), rounds: 60)
  }

  private func run(_ format: any FuzzedFormat, rounds: UInt64) throws {
    var random = Seeds.generator(for: format.name)
    let isSound = try format.read(try format.makeFile(&random))
    #expect(isSound)
    var run = FuzzRun(format, seed: Seeds.current)
    for round in 0..<rounds { try run.run(round: round, limit: .seconds(60)) }
    #expect(run.soundCount < run.count)
  }
}

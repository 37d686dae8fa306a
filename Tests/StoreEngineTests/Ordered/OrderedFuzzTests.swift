import Files
import FormatFuzzing
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Damaged files of ordered tables, as ./dev fuzz ordered makes them")
struct OrderedFuzzTests {
  @Test("No damage makes the reader crash, hang or contradict itself")
  func damaged() throws {
    var run = FuzzRun(FuzzedOrderedFile(), seed: Seeds.current)
    for round in 0..<500 { try run.run(round: UInt64(round), limit: .seconds(5)) }
    print(run.summary)
  }

  @Test("Damage never looks like a sound file")
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

  @Test("The same is true of files that led a fuzzer to new code")
  func corpus() throws {
    let counts = try FuzzCorpus.read(FuzzedOrderedFile())
    #expect(counts.sound > 0 && counts.refused > 0)
  }

  @Test("Numbers at the limits, with right checksums, are errors and do not trap")
  func edges() throws {
    let format = FuzzedOrderedFile()
    var random = Seeds.generator(for: "edges of ordered files")
    for _ in 0..<60 {
      let file = try format.makeFile(&random)
      for field in format.fields(of: file) where field.count == 8 {
        for number in [UInt64(Int.max), UInt64(Int.max) - 1, .max, 1 << 40] {
          var spoilt = file
          for index in 0..<8 {
            spoilt[field.lowerBound + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
          }
          _ = try format.read(spoilt)
        }
      }
    }
  }

  @Test(
    "Pages that all point to one page are detected, and not read endlessly", .timeLimit(.minutes(1))
  )
  func widening() throws {
    // Each level names the one page below it 100 times: 100 to the 14th keys.
    var file = OrderedFileFormat.magic
    var builder = OrderedPageBuilder(level: 0)
    _ = [UInt8]([1]).lend { key in [UInt8]().lend { builder.add(key, $0) } }
    var below = file.append(page: builder.takePage())
    for level in 1..<15 {
      var builder = OrderedPageBuilder(level: level)
      for number in 0..<UInt8(100) {
        var value: [UInt8] = []
        value.append(littleEndian: UInt64(below.offset))
        value.append(littleEndian: UInt32(below.size))
        value.append(littleEndian: UInt64(number))
        _ = [number].lend { key in value.lend { builder.add(key, $0) } }
      }
      below = file.append(page: builder.takePage())
    }
    let footer = OrderedFileFormat.Footer(
      depth: 15, root: .init(offset: below.offset, size: below.size, rank: 0), count: 1000)
    file += footer.bytes(at: file.count, mark: nil)
    let ordered = try OrderedFile(bytes: file)
    #expect(throws: StoreError.self) { try ordered.entries() }
    #expect(throws: StoreError.self) { try ordered.entries(isReversed: true) }
    #expect(throws: StoreError.self) { try ordered.check() }
  }
}

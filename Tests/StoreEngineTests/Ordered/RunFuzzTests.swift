import Files
import FormatFuzzing
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Damaged files of runs and lists of segments")
struct RunFuzzTests {
  @Test("No damage makes the reader crash, hang or contradict itself")
  func damaged() throws {
    var run = FuzzRun(FuzzedRunFile(), seed: Seeds.current)
    for round in 0..<500 { try run.run(round: UInt64(round), limit: .seconds(5)) }
    print(run.summary)
  }

  @Test("Damage never looks like a sound file")
  func noticed() throws {
    var random = Seeds.generator(for: "damaged runs")
    let format = FuzzedRunFile()
    for _ in 0..<300 {
      let file = try format.makeFile(&random)
      #expect(try format.read(file))
      var spoilt = file
      let index = Int.random(in: 0..<file.count, using: &random)
      spoilt[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      #expect(try !format.read(spoilt), "at \(index) of \(file.count)")
      let count = Int.random(in: 0..<file.count, using: &random)
      #expect(try !format.read(Array(file.prefix(count))))
    }
  }

  @Test("Numbers at the limits, with right checksums, are errors and do not trap")
  func edges() throws {
    let format = FuzzedRunFile()
    var random = Seeds.generator(for: "edges of runs")
    for _ in 0..<60 {
      let file = try format.makeFile(&random)
      for field in format.fields(of: file) where field.count == 8 {
        for number in [UInt64(Int.max), UInt64(Int.max) - 1, .max, 1 << 40, 1 << 63] {
          var bytes: [UInt8] = []
          bytes.append(littleEndian: number)
          _ = try format.read(
            Array(file[..<field.lowerBound]) + bytes + file[field.upperBound...])
        }
      }
    }
  }

  @Test("Keys out of order are damage, in one page and in two")
  func disorder() throws {
    for valueSize in [10, 3000] {
      let sink = MemorySink()
      var writer = OrderedFileWriter(sink, codec: nil, content: .run)
      var entry: [UInt8] = []
      for key in [[1, 2], [1, 9], [1, 5], [1, 7]] as [[UInt8]] {
        let change = ChangeSet.KeyChange(putting: 0, keyCount: 2, valueCount: valueSize)
        let bytes = key + [UInt8](repeating: 0, count: valueSize)
        try writer.append(change, bytes, growth: 1, &entry)
      }
      try writer.finish(isSynced: false)
      let file = try OrderedFile(any: MappedFile(copying: sink.bytes), codec: nil)
      for isReversed in [false, true] {
        #expect(throws: StoreError.self) {
          var cursor = try FileRunCursor(file, KeyRange(), isReversed: isReversed)
          while !cursor.isAtEnd { try cursor.step() }
        }
      }
      #expect(throws: StoreError.self) { try file.check() }
    }
  }
}

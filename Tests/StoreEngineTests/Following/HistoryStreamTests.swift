import Files
import Foundation
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Streams of history entries")
struct HistoryStreamTests {
  static let position = HistoryPosition(
    historyID: CommitToken(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F).uuid,
    number: 7,
    token: CommitToken(high: 0x1011_1213_1415_1617, low: 0x1819_1A1B_1C1D_1E1F).uuid)

  private static let reference = ExternalReference(
    id: ExternalID(high: 1, low: 2), byteCount: 5, checksum: 9)
  private static let frames: [HistoryStreamFrame] = [
    .copyPart([1, 2, 3]), .copyEnd(.example), .value(reference, offset: 0, [1, 2]),
    .value(reference, offset: 2, [3, 4, 5]), .missingValue(reference), .entry([4, 5], since: 3),
    .heartbeat(number: 8, microseconds: 9), .end,
  ]

  private static func encoded(_ frames: [HistoryStreamFrame]) -> [UInt8] {
    var bytes: [UInt8] = []
    var encoder = HistoryStreamEncoder(behind: position, to: &bytes)
    for frame in frames { encoder.append(frame, to: &bytes) }
    return bytes
  }

  private static func decoded(
    _ bytes: [UInt8], partSize: Int = .max, isWhole: Bool = true
  ) throws -> [HistoryStreamDecoder.Element] {
    var decoder = HistoryStreamDecoder("test")
    var elements: [HistoryStreamDecoder.Element] = []
    for start in stride(from: 0, to: bytes.count, by: min(partSize, max(bytes.count, 1))) {
      decoder.append(Array(bytes[start...].prefix(partSize)))
      while let element = try decoder.next() { elements.append(element) }
    }
    if isWhole { try decoder.finish() }
    return elements
  }

  private static let elements: [HistoryStreamDecoder.Element] =
    [.header(position)] + frames.map { .frame($0) }

  @Test("A stream reads back in parts of any size")
  func parts() throws {
    let bytes = Self.encoded(Self.frames)
    for size in 1...40 {
      #expect(try Self.decoded(bytes, partSize: size) == Self.elements)
    }
    #expect(try Self.decoded(bytes + bytes) == Self.elements + Self.elements)
  }

  @Test("A truncated stream has the frames before the cut, and its end is an error")
  func cuts() throws {
    let bytes = Self.encoded(Self.frames)
    for count in bytes.indices {
      let cut = Array(bytes[..<count])
      let found = try Self.decoded(cut, isWhole: false)
      #expect(Self.elements.starts(with: found))
      let error = #expect(throws: StoreError.self) { try Self.decoded(cut) }
      #expect(error?.code == .ioError)
    }
  }

  @Test("A changed byte is an error, at or before its frame")
  func changes() throws {
    let bytes = Self.encoded(Self.frames)
    for index in bytes.indices {
      for bit in [0, 3, 7] {
        var changed = bytes
        changed[index] ^= 1 << bit
        #expect(throws: StoreError.self) { try Self.decoded(changed) }
      }
    }
  }

  @Test("Frames that are left out, repeated, moved, or copied from another stream are errors")
  func moved() throws {
    let whole = Self.encoded(Self.frames)
    var ends = [HistoryStreamFormat.headerByteCount]
    for count in 1...Self.frames.count {
      ends.append(Self.encoded(Array(Self.frames.prefix(count))).count)
    }
    #expect(ends.last == whole.count)
    let parts = zip(ends, ends.dropFirst()).map { Array(whole[$0..<$1]) }
    let header = Array(whole[..<ends[0]])
    for index in 0..<parts.count - 1 {
      var without = parts
      without.remove(at: index)
      var twice = parts
      twice.insert(parts[index], at: index)
      var swapped = parts
      swapped.swapAt(index, index + 1)
      for changed in [without, twice, swapped] {
        let error = #expect(throws: StoreError.self) {
          try Self.decoded(header + changed.flatMap { $0 })
        }
        #expect(error?.code == .damaged)
      }
    }
    var other: [UInt8] = []
    _ = HistoryStreamEncoder(
      behind: HistoryPosition(historyID: UUID(), number: 7, token: UUID()), to: &other)
    #expect(throws: StoreError.self) { try Self.decoded(other + parts.flatMap { $0 }) }
  }

  @Test("A count that is too large is refused before its bytes arrive")
  func sizes() throws {
    for kind in 1...7 as ClosedRange<UInt8> {
      let maximum = try #require(HistoryStreamFormat.Kind(rawValue: kind)).maximumByteCount
      let count = UInt32(maximum + 1)
      var bytes = Self.encoded([])
      bytes.append(kind)
      bytes.append(littleEndian: count)
      let error = #expect(throws: StoreError.self) { try Self.decoded(bytes, isWhole: false) }
      #expect(error?.code == .damaged && error?.location.offset != nil)
    }
    #expect(throws: StoreError.self) {
      try Self.decoded(Self.encoded([]) + [8, 0, 0, 0, 0], isWhole: false)
    }
  }

  @Test("Random bytes are errors, and never trap")
  func noise() {
    var generator = Seeds.generator(for: "noise as a stream of a history")
    let bytes = Self.encoded(Self.frames)
    for _ in 0..<3000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let index = Int.random(in: changed.indices, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: changed[index] = .random(in: 0 ... .max, using: &generator)
        case 1: changed.insert(.random(in: 0 ... .max, using: &generator), at: index)
        default: changed.remove(at: index)
        }
      }
      if changed == bytes { continue }
      #expect(throws: StoreError.self) {
        try Self.decoded(changed, partSize: .random(in: 1...60, using: &generator))
      }
    }
  }

  @Test("The page has the bytes of its example")
  func example() throws {
    let page = URL(filePath: #filePath).appending(
      path: "../../../../Sources/StoreEngine/StoreEngine.docc/HistoryStreamFormat.md")
    let text = try String(contentsOf: page.standardizedFileURL, encoding: .utf8)
    let block = try #require(text.split(separator: "## An example").last)
      .split(separator: "```")[1]
    let found = block.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
    let bytes = Self.encoded([.heartbeat(number: 7, microseconds: 1_000_000), .end])
    let hex = bytes.map { String(format: "%02X", $0) }
    let lines = stride(from: 0, to: hex.count, by: 16).map {
      hex[$0..<min($0 + 16, hex.count)].joined(separator: " ")
    }
    #expect(found == bytes, "\(lines.joined(separator: "\n"))")
  }
}

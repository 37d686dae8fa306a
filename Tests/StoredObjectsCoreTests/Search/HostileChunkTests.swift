import Files
import Testing

@testable import StoredObjectsCore

@Suite("Hostile chunks of a full-text index")
struct HostileChunkTests {
  @Test("Positions that overflow are damage")
  func positions() {
    var chunk: [UInt8] = []
    chunk.append(varint: 0)
    for _ in 0..<200_000 { chunk.append(varint: 1 << 48 | 1) }
    chunk.append(varint: 0)
    #expect(throws: PostingDamage.self) {
      try chunk.lend { try PostingChunk.visit(1, $0) { _, _ in } }
    }
  }

  @Test("Rows above the maximum are damage")
  func rows() {
    for distance in [UInt64(UInt32.max), 1 << 47] {
      var chunk: [UInt8] = []
      chunk.append(varint: distance)
      chunk.append(varint: 0)
      #expect(throws: PostingDamage.self) {
        try chunk.lend { try PostingChunk.visit(7, $0) { _, _ in } }
      }
      #expect(throws: PostingDamage.self) {
        _ = try chunk.lend { try PostingChunk.lastRow(7, $0) }
      }
    }
  }
}

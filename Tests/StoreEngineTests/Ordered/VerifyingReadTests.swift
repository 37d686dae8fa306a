import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

/// Look-ups whose values have checksums of their own, which replace that of the page.
@Suite("Look-ups of values that verify themselves")
struct VerifyingReadTests {
  /// A value with the checksum of its key and itself at its end.
  private func value(_ key: [UInt8], _ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    var value = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    value.append(littleEndian: CommitLogFormat.checksum(key + value))
    return value
  }

  private func isRight(_ key: [UInt8], _ value: [UInt8]) -> Bool {
    var checksum: [UInt8] = []
    checksum.append(littleEndian: CommitLogFormat.checksum(key + value.dropLast(4)))
    return Array(value.suffix(4)) == checksum
  }

  /// Small and large values, each in pages of its own kind.
  private func entries(_ generator: inout SeededGenerator) -> [OrderedEntry] {
    (0..<60).map { number in
      let key = Array("key \(number < 10 ? "0" : "")\(number)".utf8)
      return OrderedEntry(
        key: key, value: value(key, number < 40 ? 20 : 700, &generator))
    }
  }

  private func find(_ key: [UInt8], in file: OrderedFile) throws(StoreError) -> [UInt8]? {
    try key.lend { (bytes) throws(StoreError) in
      try file.withValue(bytes, isVerifying: true) { (value) throws(StoreError) in
        let value = [UInt8](copying: value)
        guard value.count >= 4, isRight(key, value) else {
          throw StoreError(.damaged, "The value is wrong.")
        }
        return value
      }
    }
  }

  @Test("Every value is found, and no other key")
  func sound() throws {
    var generator = Seeds.generator(for: "values that verify themselves")
    let entries = entries(&generator)
    let file = try OrderedFile(bytes: MemorySink.file(entries))
    for entry in entries { #expect(try find(entry.key, in: file) == entry.value) }
    for key in ["", "key", "key 00a", "key 60", "z"] {
      #expect(try find(Array(key.utf8), in: file) == nil)
    }
  }

  @Test("No changed byte of a file makes a key disappear, appear, or have another value")
  func damaged() throws {
    var generator = Seeds.generator(for: "damaged values that verify themselves")
    let entries = entries(&generator)
    let sound = try MemorySink.file(entries)
    var (found, refused) = (0, 0)
    for offset in sound.indices {
      var bytes = sound
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      guard let file = try? OrderedFile(bytes: bytes) else { continue }
      for entry in entries {
        do {
          #expect(try find(entry.key, in: file) == entry.value, "byte \(offset)")
          found += 1
        } catch {
          #expect(error.code == .damaged)
          refused += 1
        }
      }
      if let other = try? find(Array("key 00a".utf8), in: file) {
        Issue.record("byte \(offset): an unknown key has the value \(other)")
      }
    }
    // A page has several values, and most of them are right.
    #expect(found > 10 * refused && refused > 0)
  }

  @Test("A wrong value is reported as the damage of its page, with the offset of the page")
  func report() throws {
    var generator = Seeds.generator(for: "the report of a wrong value")
    let entries = entries(&generator)
    var bytes = try MemorySink.file(entries)
    let last = try #require(entries.last?.value)
    let start = try #require(
      bytes.indices.dropLast(last.count).first { Array(bytes[$0..<$0 + last.count]) == last })
    bytes[start] ^= 1
    let file = try OrderedFile(bytes: bytes)
    let error = #expect(throws: StoreError.self) {
      try find(#require(entries.last?.key), in: file)
    }
    #expect(error?.message == "The checksum of a page is wrong.")
    #expect(error?.location.offset ?? .max < start)
  }
}

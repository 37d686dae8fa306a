import Files

/// Says of most keys that a run does not have them, without a look at its keys.
///
/// A Bloom filter: four bits for each key, all in one word, so that asking touches memory once. Of
/// keys that are not there one or two in a hundred are taken for others.
struct KeyFilter: Sendable {
  private var words: [UInt64]

  /// So few keys are found as quickly without.
  static let leastCount = 16

  /// A filter for so many keys, none of them yet.
  init(count: Int) { words = [UInt64](repeating: 0, count: count / 5 + 1) }

  /// A filter for the keys of changes; nil for so few that it would not help.
  init?(_ changes: [ChangeSet.KeyChange], _ bytes: [UInt8]) {
    guard changes.count >= Self.leastCount else { return nil }
    self.init(count: changes.count)
    let count = words.count
    var words = words.mutableSpan
    bytes.lend { bytes in
      for change in changes {
        let hash = bytes.extracting(change.key).keyHash
        words[Self.word(hash, count)] |= Self.bits(hash)
      }
    }
  }

  /// Takes in a key, by its hash.
  mutating func insert(_ hash: UInt64) { words[Self.word(hash, words.count)] |= Self.bits(hash) }

  /// Whether a key with this hash may have been taken in.
  @inline(__always)
  func mayContain(_ hash: UInt64) -> Bool {
    let bits = Self.bits(hash)
    return words[Self.word(hash, words.count)] & bits == bits
  }

  /// The upper half of the hash says which word, the lower one which bits.
  @inline(__always)
  private static func word(_ hash: UInt64, _ count: Int) -> Int {
    Int((hash >> 32 &* UInt64(count)) >> 32)
  }

  @inline(__always)
  private static func bits(_ hash: UInt64) -> UInt64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
  }
}

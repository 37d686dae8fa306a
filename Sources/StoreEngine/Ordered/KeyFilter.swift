import Files

/// A Bloom filter, which rules out most keys that a run does not contain.
///
/// It has four bits for each key, all in one word, so that a query touches memory once. One or two
/// in a hundred keys that are not in the run are false positives.
struct KeyFilter: Sendable {
  private var words: [UInt64]

  /// The number of keys below which a search is as fast without a filter.
  static let leastCount = 16

  /// Creates a filter for the given number of keys, without any key.
  init(count: Int) { words = [UInt64](repeating: 0, count: count / 5 + 1) }

  /// Creates a filter for the keys of changes; nil for so few that it would not help.
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

  /// Creates a filter for the keys with the given hashes; nil for so few that it would not help.
  init?(hashes: [UInt64]) {
    guard hashes.count >= Self.leastCount else { return nil }
    self.init(count: hashes.count)
    for hash in hashes { insert(hash) }
  }

  /// Reads the words of a filter; nil if there is none.
  init?(words bytes: RawSpan) {
    guard bytes.byteCount > 0, bytes.byteCount % 8 == 0 else { return nil }
    words = (0..<bytes.byteCount / 8).map { bytes.loadUInt64(at: 8 * $0, isBigEndian: false) }
  }

  /// Appends the words of the filter, little-endian.
  func append(to bytes: inout [UInt8]) {
    for word in words { bytes.append(littleEndian: word) }
  }

  /// Adds a key by its hash.
  mutating func insert(_ hash: UInt64) { words[Self.word(hash, words.count)] |= Self.bits(hash) }

  /// Whether a key with this hash may have been added.
  @inline(__always)
  func mayContain(_ hash: UInt64) -> Bool {
    let bits = Self.bits(hash)
    return words[Self.word(hash, words.count)] & bits == bits
  }

  /// The upper half of the hash selects the word, the lower half the bits.
  @inline(__always)
  private static func word(_ hash: UInt64, _ count: Int) -> Int {
    Int((hash >> 32 &* UInt64(count)) >> 32)
  }

  @inline(__always)
  private static func bits(_ hash: UInt64) -> UInt64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
  }
}

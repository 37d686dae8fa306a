import Files

/// The keys of a planned file, by the numbers of their records, from 1.
struct PlannedKeys {
  /// The keys of 4 bytes, as long as there are no others.
  private var words: [UInt32] = []
  /// All keys, one after another, from the first key of another size on.
  private var bytes: [UInt8] = []
  /// The end of each key in the bytes.
  private var ends: [Int] = []

  mutating func reserveCapacity(_ count: Int) { words.reserveCapacity(count) }

  @inline(__always)
  mutating func append(_ key: RawSpan) {
    if key.byteCount == 4, ends.isEmpty {
      words.append(key.loadUInt32(at: 0, isBigEndian: true))
    } else {
      appendLong(key)
    }
  }

  private mutating func appendLong(_ key: RawSpan) {
    for word in words {
      bytes.append(littleEndian: word.byteSwapped)
      ends.append(bytes.count)
    }
    words = []
    bytes.append(copying: key)
    ends.append(bytes.count)
  }

  private func range(_ number: UInt32) -> Range<Int> {
    let index = Int(number) - 1
    return (index == 0 ? 0 : ends[index - 1])..<ends[index]
  }

  /// Returns the first hash of a key, which determines its bucket.
  @inline(__always)
  func firstHash(_ number: UInt32) -> UInt64 {
    if ends.isEmpty { return HashFileFormat.hashes(ofBigEndian: words[Int(number) - 1]).first }
    return bytes.lend(range(number)) { HashFileFormat.hashes(of: $0).first }
  }

  /// Returns the first 8 bytes of a key's sort key in its bucket.
  ///
  /// They are the second hash, the size up to 255, and the first 6 bytes of the key.
  @inline(__always)
  func order(_ number: UInt32) -> UInt64 {
    if ends.isEmpty {
      let word = words[Int(number) - 1]
      let hash = HashFileFormat.hashes(ofBigEndian: word).second
      return UInt64(hash) << 56 | 4 << 48 | UInt64(word) << 16
    }
    return bytes.lend(range(number)) { key in
      let size = UInt64(min(key.byteCount, 255))
      var order = UInt64(HashFileFormat.hashes(of: key).second) << 56 | size << 48
      // The size comes before the bytes, and is not all there for the longest keys.
      if size == 255 { return order }
      for index in 0..<min(key.byteCount, 6) {
        order |= UInt64(key.loadByte(at: index)) << UInt64(40 - 8 * index)
      }
      return order
    }
  }

  /// Compares two keys whose first 6 bytes are the same; zero for equal keys.
  func compare(_ number: UInt32, _ other: UInt32) -> Int {
    // ``order(_:)`` contains all of a key of 4 bytes.
    if ends.isEmpty { return 0 }
    return bytes.lend(range(number)) { key in
      bytes.lend(range(other)) { HashFileFormat.compare(key, $0) }
    }
  }
}

/// A range of keys: from one, which belongs to it, up to another, which does not.
///
///     KeyRange(from: [1, 2], to: [1, 3])     // all keys that begin with 1, 2
///     KeyRange.prefix([1, 2])                // the same
///     KeyRange(after: key)                   // what comes behind a key, for the next page
///
/// Keys are ordered byte by byte, as `memcmp` does, a key before those that it begins.
public struct KeyRange: Hashable, Sendable {
  /// The first key that may be in the range; an empty one is before all others.
  public var from: [UInt8]
  /// The first key that is behind the range; nil is behind all.
  public var to: [UInt8]?

  /// All keys, or those between two.
  public init(from: [UInt8] = [], to: [UInt8]? = nil) { (self.from, self.to) = (from, to) }

  /// The keys behind a key, up to another.
  public init(after key: [UInt8], to: [UInt8]? = nil) { self.init(from: key + [0], to: to) }

  /// The keys from one up to and with another.
  public init(from: [UInt8] = [], through key: [UInt8]) { self.init(from: from, to: key + [0]) }

  /// The keys that begin with some bytes.
  public static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(from: prefix, to: end(ofPrefix: prefix))
  }

  /// The first key behind all that begin with some bytes; nil when there is none.
  public static func end(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 < 0xFF }) else { return nil }
    var end = Array(prefix[...last])
    end[last] += 1
    return end
  }

  /// Whether no key can be in the range.
  public var isEmpty: Bool {
    guard let to else { return false }
    return !from.lexicographicallyPrecedes(to)
  }

  /// Makes the range of one key.
  package static func key(_ key: [UInt8]) -> KeyRange { KeyRange(from: key, through: key) }

  /// The key of a range that has room for one only; nil for any other.
  package var onlyKey: [UInt8]? {
    guard let to, to.count == from.count + 1, to.last == 0 else { return nil }
    return to.starts(with: from) ? from : nil
  }

  /// Whether a key is in the range.
  public func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(from) && to.map { key.lexicographicallyPrecedes($0) } ?? true
  }
}

/// A range of keys, including its lower bound and excluding its upper bound.
///
///     KeyRange(from: [1, 2], to: [1, 3])     // all keys that begin with 1, 2
///     KeyRange.prefix([1, 2])                // the same
///     KeyRange(after: key)                   // the keys after a key, for the next page
///
/// Keys are ordered byte by byte, as by `memcmp`, and a key precedes those that it is a prefix of.
public struct KeyRange: Hashable, Sendable {
  /// The first key that may be in the range; an empty key precedes all others.
  public var from: [UInt8]
  /// The first key after the range; nil if the range has no upper bound.
  public var to: [UInt8]?

  /// Creates the range of all keys, or of those between two bounds.
  public init(from: [UInt8] = [], to: [UInt8]? = nil) { (self.from, self.to) = (from, to) }

  /// Creates the range of the keys after a key, up to another.
  ///
  /// Complexity: linear in the length of the key.
  public init(after key: [UInt8], to: [UInt8]? = nil) { self.init(from: key + [0], to: to) }

  /// Creates the range of the keys from one through another.
  ///
  /// Complexity: linear in the length of the key.
  public init(from: [UInt8] = [], through key: [UInt8]) { self.init(from: from, to: key + [0]) }

  /// Returns the range of the keys with a prefix.
  ///
  /// Complexity: linear in the length of the prefix.
  public static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(from: prefix, to: end(ofPrefix: prefix))
  }

  /// Returns the first key after all keys with a prefix; nil if there is none.
  ///
  /// Complexity: linear in the length of the prefix.
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

  /// Returns the range of one key.
  package static func key(_ key: [UInt8]) -> KeyRange { KeyRange(from: key, through: key) }

  /// The key of a range that can contain only one; nil for any other range.
  package var onlyKey: [UInt8]? {
    guard let to, to.count == from.count + 1, to.last == 0 else { return nil }
    return to.starts(with: from) ? from : nil
  }

  /// Returns whether a key is in the range.
  ///
  /// Complexity: linear in the length of the key.
  public func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(from) && to.map { key.lexicographicallyPrecedes($0) } ?? true
  }
}

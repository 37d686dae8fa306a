import Files

/// The order of keys that lie in one array of bytes, byte by byte.
///
/// Keys are sorted by the eight bytes that follow what all of them begin with, byte by byte, which
/// takes a tenth of the time of comparing keys; those that have the same eight are compared.
enum KeyOrder {
  /// A negative number, zero or a positive one, as the left key comes first, is the same, or comes
  /// last.
  static func compare(_ left: Range<Int>, _ right: Range<Int>, _ bytes: [UInt8]) -> Int {
    bytes.lend(left) { left in bytes.lend(right) { left.compare($0) } }
  }

  /// Sorts keys.
  ///
  /// Complexity: linear in the number of keys for those that eight bytes tell apart, O(n log n) for
  /// others.
  ///
  /// - Parameters:
  ///   - count: How many keys there are.
  ///   - bytes: Where they lie.
  ///   - key: Where in the bytes each is, by its number.
  /// - Returns: the numbers of the keys in their order; of equal keys the first comes first.
  static func indices(
    count: Int, in bytes: [UInt8], key: (Int) -> Range<Int>
  ) -> some Sequence<Int> {
    let prefix = commonPrefix(count, bytes, key)
    var items: [Item] = []
    items.reserveCapacity(count)
    for index in 0..<count {
      let key = key(index)
      let rest = key.lowerBound + prefix..<key.upperBound
      items.append(Item(head: bytes.lend(rest) { $0.head }, index: UInt32(index)))
    }
    sortByHeads(&items)
    sortTies(&items) { left, right in
      let order = compare(key(Int(left)), key(Int(right)), bytes)
      return order != 0 ? order < 0 : left < right
    }
    return items.lazy.map { Int($0.index) }
  }

  /// Sorts numbers that are all different.
  ///
  /// Complexity: linear in the number of them.
  ///
  /// - Returns: Their indices in ascending order of the numbers.
  static func indices(of numbers: some Sequence<UInt32>) -> some Sequence<Int> {
    var items = numbers.enumerated().map { Item(head: UInt64($1), index: UInt32($0)) }
    sortByHeads(&items)
    return items.lazy.map { Int($0.index) }
  }

  /// The number of a key, and the eight bytes by which it is sorted.
  private struct Item {
    var head: UInt64
    var index: UInt32
  }

  /// How many bytes all keys begin with.
  private static func commonPrefix(
    _ count: Int, _ bytes: [UInt8], _ key: (Int) -> Range<Int>
  ) -> Int {
    guard count > 0 else { return 0 }
    return bytes.lend(key(0)) { first in
      var prefix = first.byteCount
      for index in 1..<count where prefix > 0 {
        let common = bytes.lend(key(index)) { $0.commonPrefixCount(first) }
        prefix = min(prefix, common)
      }
      return prefix
    }
  }

  /// Below so many it is quicker to compare.
  private static let radixCount = 256

  private static func sortByHeads(_ items: inout [Item]) {
    guard items.count >= radixCount else { return items.sort { $0.head < $1.head } }
    var counts = [[Int]](repeating: [Int](repeating: 0, count: 256), count: 8)
    for digit in 0..<8 {
      let shift = UInt64(8 * digit)
      for item in items { counts[digit][Int(item.head >> shift & 0xFF)] += 1 }
    }
    var other = items
    for digit in 0..<8 where !counts[digit].contains(items.count) {
      distribute(items, to: &other, counts[digit], UInt64(8 * digit))
      swap(&items, &other)
    }
  }

  private static func distribute(
    _ items: [Item], to other: inout [Item], _ counts: [Int], _ shift: UInt64
  ) {
    var positions = [Int](repeating: 0, count: 256)
    for byte in 1..<256 { positions[byte] = positions[byte - 1] + counts[byte - 1] }
    var target = other.mutableSpan
    for item in items {
      let byte = Int(item.head >> shift & 0xFF)
      target[positions[byte]] = item
      positions[byte] += 1
    }
  }

  /// Sorts what has the same head.
  private static func sortTies(_ items: inout [Item], _ precedes: (UInt32, UInt32) -> Bool) {
    var start = 0
    while start < items.count {
      var end = start + 1
      while end < items.count, items[end].head == items[start].head { end += 1 }
      if end - start > 1 { items[start..<end].sort { precedes($0.index, $1.index) } }
      start = end
    }
  }
}

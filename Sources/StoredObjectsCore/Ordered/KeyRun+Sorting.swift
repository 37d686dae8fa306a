import Files

extension KeyRun {
  /// Sorts the changes of a save; of those of one key the last one stays.
  ///
  /// Sorted by the eight bytes that follow what all keys begin with, byte by byte, which takes a tenth
  /// of the time of comparing keys; those that have the same eight are compared.
  ///
  /// Complexity: linear in the number of changes for keys that eight bytes tell apart, O(n log n) for
  /// others.
  convenience init(bytes: [UInt8], _ changes: [Change]) {
    let isSorted = zip(changes, changes.dropFirst()).allSatisfy {
      Self.compare($0.key, $1.key, bytes) < 0
    }
    self.init(bytes: bytes, sorted: isSorted ? changes : Self.sorted(changes, bytes))
  }

  private static func compare(_ left: Range<Int>, _ right: Range<Int>, _ bytes: [UInt8]) -> Int {
    bytes.lend(left) { left in bytes.lend(right) { left.compare($0) } }
  }

  /// Where a change stands, and the eight bytes by which it is sorted.
  private struct Item {
    var head: UInt64
    var index: UInt32
  }

  private static func sorted(_ changes: [Change], _ bytes: [UInt8]) -> [Change] {
    let prefix = commonPrefix(changes, bytes)
    var items: [Item] = []
    items.reserveCapacity(changes.count)
    for (index, change) in changes.enumerated() {
      let rest = change.key.lowerBound + prefix..<change.key.upperBound
      items.append(Item(head: bytes.lend(rest) { $0.head }, index: UInt32(index)))
    }
    sortByHeads(&items)
    sortTies(&items) { left, right in
      let order = compare(changes[Int(left)].key, changes[Int(right)].key, bytes)
      return order != 0 ? order < 0 : left < right
    }
    var sorted: [Change] = []
    sorted.reserveCapacity(changes.count)
    for item in items {
      let change = changes[Int(item.index)]
      if let last = sorted.last, compare(last.key, change.key, bytes) == 0 { sorted.removeLast() }
      sorted.append(change)
    }
    return sorted
  }

  /// How many bytes all keys begin with.
  private static func commonPrefix(_ changes: [Change], _ bytes: [UInt8]) -> Int {
    guard let first = changes.first else { return 0 }
    return bytes.lend(first.key) { first in
      var prefix = first.byteCount
      for change in changes where prefix > 0 {
        let common = bytes.lend(change.key) { $0.commonPrefixCount(first) }
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
    var places = [Int](repeating: 0, count: 256)
    for byte in 1..<256 { places[byte] = places[byte - 1] + counts[byte - 1] }
    var target = other.mutableSpan
    for item in items {
      let byte = Int(item.head >> shift & 0xFF)
      target[places[byte]] = item
      places[byte] += 1
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

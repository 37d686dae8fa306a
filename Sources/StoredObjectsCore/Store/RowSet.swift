/// A set of row IDs, one bit each, in pages that exist only where there are rows.
package struct RowSet {
  private static let pageBits: UInt32 = 12
  private static let pageSize: UInt32 = 1 << pageBits

  private var pages: [[UInt64]] = []

  /// Makes an empty set.
  package init() {}

  /// Adds a row, and says whether it is new.
  ///
  /// Complexity: constant time, but for the growth of the directory.
  @discardableResult
  package mutating func insert(_ rowID: UInt32) -> Bool {
    let number = Int(rowID >> Self.pageBits)
    if number >= pages.count {
      pages.append(contentsOf: repeatElement([], count: number + 1 - pages.count))
    }
    if pages[number].isEmpty { pages[number] = Array(repeating: 0, count: Int(Self.pageSize) / 64) }
    let bit = rowID & (Self.pageSize - 1)
    let mask: UInt64 = 1 << UInt64(bit & 63)
    let old = pages[number][Int(bit >> 6)]
    pages[number][Int(bit >> 6)] = old | mask
    return old & mask == 0
  }

  /// Whether a row is in the set.
  package func contains(_ rowID: UInt32) -> Bool {
    let number = Int(rowID >> Self.pageBits)
    guard number < pages.count, !pages[number].isEmpty else { return false }
    let bit = rowID & (Self.pageSize - 1)
    return pages[number][Int(bit >> 6)] & (1 << UInt64(bit & 63)) != 0
  }

  /// The first row of the set behind another, or nil.
  ///
  /// Complexity: linear in the distance, 64 rows at a step, 4,096 where there are none.
  func first(after rowID: UInt32) -> UInt32? {
    guard rowID < .max else { return nil }
    var candidate = UInt64(rowID) + 1
    while Int(candidate >> UInt64(Self.pageBits)) < pages.count {
      let page = pages[Int(candidate >> UInt64(Self.pageBits))]
      let bit = candidate & UInt64(Self.pageSize - 1)
      guard !page.isEmpty else {
        candidate += UInt64(Self.pageSize) - bit
        continue
      }
      let word = page[Int(bit >> 6)] >> (bit & 63)
      if word != 0 { return UInt32(candidate + UInt64(word.trailingZeroBitCount)) }
      candidate += 64 - (bit & 63)
    }
    return nil
  }
}

/// An index of the items in a batch by their keys: a hash table of item numbers.
///
/// A dictionary with the keys would copy and hash each of them several times.
struct ItemIndex {
  /// The number of an item plus one, or 0; the count is a power of two, at most half in use.
  private var slots: [UInt32] = []
  /// The hash of each item's key.
  private var hashes: [UInt64] = []

  /// Returns the number of an item.
  ///
  /// - Parameters:
  ///   - hash: The hash of the key.
  ///   - isSame: Returns whether an item with this hash has the key.
  /// - Returns: The number, or nil if there is none.
  @inline(__always)
  func find(_ hash: UInt64, _ isSame: (Int) -> Bool) -> Int? {
    if slots.isEmpty { return nil }
    var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[index] != 0 {
      let item = Int(slots[index]) - 1
      if hashes[item] == hash, isSame(item) { return item }
      index = (index + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Adds the next item.
  mutating func append(_ hash: UInt64) {
    hashes.append(hash)
    if 2 * hashes.count <= slots.count { return insert(hashes.count - 1) }
    slots = [UInt32](repeating: 0, count: max(16, 2 * slots.count))
    for item in hashes.indices { insert(item) }
  }

  private mutating func insert(_ item: Int) {
    var index = Int(truncatingIfNeeded: hashes[item]) & (slots.count - 1)
    while slots[index] != 0 { index = (index + 1) & (slots.count - 1) }
    slots[index] = UInt32(item + 1)
  }
}

/// The positions of each key's records, for policies that depend on earlier records.
///
/// They are found by a secret hash of the key, unlike that of the format, so keys can't be chosen
/// to share it. They take at most 64 bytes per record in addition to the index, and half as much
/// again while they grow. They are built when such a policy is used the first time.
struct CDBEarlierRecords {
  private var slots: [CDBIndex.Entry]
  private var used = 0
  private static let removed = UInt64.max

  init(count: Int) { slots = Self.emptySlots(for: count) }

  private static func emptySlots(for count: Int) -> [CDBIndex.Entry] {
    var size = 64
    while size < count * 2 + 2 { size *= 2 }
    return .init(repeating: CDBIndex.Entry(hash: 0, position: 0), count: size)
  }

  mutating func add(_ entry: CDBIndex.Entry) {
    if used * 2 >= slots.count { grow() }
    var slot = first(entry.hash)
    while slots[slot].position != 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = entry
    used += 1
  }

  private mutating func grow() {
    let old = slots
    slots = Self.emptySlots(for: used)
    used = 0
    for entry in old where entry.position != 0 && entry.position != Self.removed { add(entry) }
  }

  private func first(_ hash: UInt64) -> Int {
    Int(truncatingIfNeeded: (hash &* 0x9E37_79B9_7F4A_7C15) >> 20) & (slots.count - 1)
  }

  /// Returns the positions of the records with a hash.
  func positions(_ hash: UInt64) -> [UInt64] {
    var positions: [UInt64] = []
    var slot = first(hash)
    while slots[slot].position != 0 {
      let entry = slots[slot]
      if entry.hash == hash, entry.position != Self.removed { positions.append(entry.position) }
      slot = (slot + 1) & (slots.count - 1)
    }
    return positions
  }

  mutating func remove(_ hash: UInt64, at position: UInt64) {
    var slot = first(hash)
    while slots[slot].position != 0 {
      if slots[slot].position == position { slots[slot].position = Self.removed }
      slot = (slot + 1) & (slots.count - 1)
    }
  }
}

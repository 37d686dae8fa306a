internal import Files

/// Which records a writer has added: what its hash tables will be made of.
///
/// 16 bytes a record, whatever is in it; twice that while the array grows, and to make the tables.
struct CDBIndex {
  struct Entry {
    let hash: UInt64
    var position: UInt64
  }

  /// The records in the order in which they were added.
  private(set) var entries: [Entry] = []

  var count: Int { entries.count }

  mutating func add(_ entry: Entry) { entries.append(entry) }

  /// Removes records; linear in all of them.
  mutating func remove(_ positions: Set<UInt64>) {
    entries.removeAll { positions.contains($0.position) }
  }

  mutating func movePositions(_ newPosition: (UInt64) -> UInt64) {
    for index in entries.indices {
      entries[index].position = newPosition(entries[index].position)
    }
  }

  /// The records by table, in each in the order in which they were added, and where each table begins.
  func byTable() -> (entries: [Entry], starts: [Int]) {
    var starts = [Int](repeating: 0, count: CDBFormat.tableCount + 1)
    for entry in entries { starts[Int(truncatingIfNeeded: entry.hash & 255) + 1] += 1 }
    for table in 1...CDBFormat.tableCount { starts[table] += starts[table - 1] }
    var next = starts
    var sorted = entries
    for entry in entries {
      let table = Int(truncatingIfNeeded: entry.hash & 255)
      sorted[next[table]] = entry
      next[table] += 1
    }
    return (sorted, starts)
  }

  /// The slots of a table: twice as many as records, each record in the first free one from its own on.
  static func slots(of entries: ArraySlice<Entry>) -> [Entry] {
    let count = entries.count * 2
    var slots = [Entry](repeating: Entry(hash: 0, position: 0), count: count)
    for entry in entries {
      var slot = Int((entry.hash >> 8) % UInt64(count))
      while slots[slot].position != 0 { slot = slot + 1 == count ? 0 : slot + 1 }
      slots[slot] = entry
    }
    return slots
  }
}

/// Where the records of each hash are, for the policies that have to know of earlier records.
///
/// At most 64 bytes a record on top of the index, made when the first such policy is used.
struct CDBEarlierRecords {
  private var slots: [CDBIndex.Entry]
  private var used = 0
  private static let removed = UInt64.max

  init(_ index: CDBIndex) {
    slots = Self.emptySlots(for: index.count)
    for entry in index.entries { add(entry) }
  }

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
    slots = Self.emptySlots(for: used * 2)
    used = 0
    for entry in old where entry.position != 0 && entry.position != Self.removed { add(entry) }
  }

  private func first(_ hash: UInt64) -> Int {
    Int(truncatingIfNeeded: (hash &* 0x9E37_79B9_7F4A_7C15) >> 20) & (slots.count - 1)
  }

  /// The positions of the records of a hash.
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

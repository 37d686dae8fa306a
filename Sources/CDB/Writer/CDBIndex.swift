internal import Files

/// The records that a writer has added, from which its hash tables are built.
///
/// A record has the content of its slot in the file: in the classic format one word with the
/// position above the hash, in the wide format a word for each. The same amount is needed again
/// while the array grows, and while the tables are built.
struct CDBIndex {
  struct Entry {
    let hash: UInt64
    var position: UInt64
  }

  private let format: CDBFormat
  /// The records in the order in which they were added.
  private var words: [UInt64] = []
  private var wordsPerEntry: Int { format == .wide ? 2 : 1 }

  init(_ format: CDBFormat) { self.format = format }

  // Without a division, which would be too slow for each record.
  var count: Int { format == .wide ? words.count / 2 : words.count }

  func entry(_ number: Int) -> Entry {
    if format == .wide {
      return Entry(hash: words[2 * number], position: words[2 * number + 1])
    }
    return Entry(hash: words[number] & 0xFFFF_FFFF, position: words[number] >> 32)
  }

  @inline(__always)
  mutating func add(_ entry: Entry) {
    if format == .wide {
      words.append(entry.hash)
      words.append(entry.position)
    } else {
      words.append(entry.position << 32 | entry.hash)
    }
  }

  /// Removes records; linear in the number of all records.
  mutating func remove(_ positions: Set<UInt64>) {
    replaceAll { positions.contains($0.position) ? nil : $0 }
  }

  mutating func movePositions(_ newPosition: (UInt64) -> UInt64) {
    replaceAll { Entry(hash: $0.hash, position: newPosition($0.position)) }
  }

  private mutating func replaceAll(_ change: (Entry) -> Entry?) {
    var new = CDBIndex(format)
    for number in 0..<count {
      if let entry = change(entry(number)) { new.add(entry) }
    }
    self = new
  }

  /// Returns the records grouped by table, in the order in which they were added.
  ///
  /// `starts` are the indexes at which the tables begin.
  func byTable() -> (index: CDBIndex, starts: [Int]) {
    var starts = [Int](repeating: 0, count: CDBFormat.tableCount + 1)
    for number in 0..<count { starts[table(number) + 1] += 1 }
    for table in 1...CDBFormat.tableCount { starts[table] += starts[table - 1] }
    var next = starts
    var sorted = CDBIndex(format)
    sorted.words = [UInt64](repeating: 0, count: words.count)
    for number in 0..<count {
      let table = table(number)
      sorted.copy(entryFrom: number, of: self, to: next[table])
      next[table] += 1
    }
    assert(next[..<CDBFormat.tableCount].elementsEqual(starts[1...]), "a table lacks a record")
    return (sorted, starts)
  }

  private func table(_ number: Int) -> Int {
    Int(truncatingIfNeeded: words[number * wordsPerEntry] & 255)
  }

  @inline(__always)
  private mutating func copy(entryFrom source: Int, of other: CDBIndex, to target: Int) {
    if format == .wide {
      words[2 * target] = other.words[2 * source]
      words[2 * target + 1] = other.words[2 * source + 1]
    } else {
      words[target] = other.words[source]
    }
  }

  /// Returns the slots of a table in the form of the file.
  ///
  /// There are twice as many as records, and each record is in the first free slot from its own on.
  func slots(of entries: Range<Int>) -> [UInt64] {
    let count = entries.count * 2
    var slots = [UInt64](repeating: 0, count: count * wordsPerEntry)
    var row = SlotRow(slotCount: count)
    for number in entries {
      let entry = entry(number)
      let slot = row.freeSlot(from: Self.firstSlot(entry.hash, count)) { slot in
        slots[format == .wide ? 2 * slot + 1 : slot] == 0
      }
      if format == .wide {
        slots[2 * slot] = entry.hash.littleEndian
        slots[2 * slot + 1] = entry.position.littleEndian
      } else {
        slots[slot] = words[number].littleEndian
      }
    }
    assert(
      slots.count { $0 != 0 } >= entries.count && slots.count == count * wordsPerEntry,
      "two records share a slot")
    return slots
  }

  /// A search for free slots while a table is filled, fast even if keys were chosen to crowd.
  private struct SlotRow {
    let slotCount: Int
    /// For each occupied slot, a later one to continue at; created when a row becomes long.
    private var shortcuts: [UInt32] = []
    private static let longRow = 256

    init(slotCount: Int) { self.slotCount = slotCount }

    @inline(__always)
    mutating func freeSlot(from first: Int, _ isFree: (Int) -> Bool) -> Int {
      var slot = first
      for _ in 0..<Self.longRow {
        if isFree(slot) { return slot }
        slot = slot + 1 == slotCount ? 0 : slot + 1
      }
      return freeSlot(behind: slot, isFree)
    }

    /// Finds a free slot, and makes every slot on the path lead to the one after it.
    private mutating func freeSlot(behind first: Int, _ isFree: (Int) -> Bool) -> Int {
      if shortcuts.isEmpty {
        shortcuts = (0..<slotCount).map { UInt32($0 + 1 == slotCount ? 0 : $0 + 1) }
      }
      var (slot, way) = (first, [Int]())
      while !isFree(slot) {
        way.append(slot)
        slot = Int(shortcuts[slot])
      }
      let next = shortcuts[slot]
      for passed in way { shortcuts[passed] = next }
      return slot
    }
  }

  /// Returns the slot at which the search for a hash begins.
  ///
  /// Numbers of 4 bytes are divided several times faster.
  @inline(__always)
  static func firstSlot(_ hash: UInt64, _ slots: Int) -> Int {
    if let slots = UInt32(exactly: slots), let hash = UInt32(exactly: hash >> 8) {
      return Int(hash % slots)
    }
    return Int((hash >> 8) % UInt64(slots))
  }
}

import StoreEngine

/// A collector of the positions of trigrams in the texts of one attribute, in memory.
///
/// Rows come in ascending order. The positions of a trigram have the layout of a chunk, and are
/// split into chunks later.
struct PostingCollector {
  /// The collected positions of one trigram.
  struct List {
    let trigram: UInt64
    let firstRow: UInt32
    var lastRow: UInt32
    var lastPosition: UInt32
    /// The offset of the last position in the bytes; its lowest bit says whether another follows.
    var lastLocation: Int
    /// The positions in the first row; then, for each row, its distance and its positions.
    var bytes: [UInt8]
  }

  private(set) var lists: [List] = []
  /// The approximate memory size of the lists.
  private(set) var byteCount = 0
  /// The indexes of lists by a hash of their trigram; -1 for an empty slot.
  private var table = [Int32](repeating: -1, count: 1 << 12)
  private var shift = 64 - 12

  /// Adds the text of a row.
  ///
  /// - Precondition: The row is greater than all rows before it.
  mutating func add(_ row: UInt32, _ text: FoldedText) {
    let scalars = text.scalars
    guard scalars.count > 2 else { return }
    var trigram = UInt64(scalars[0]) << 21 | UInt64(scalars[1])
    for position in 0..<scalars.count - 1 {
      let mask: UInt64 = (1 << 42) - 1
      trigram = (trigram & mask) << 21 | UInt64(text[position + 2])
      add(trigram, row, UInt32(position))
    }
  }

  private mutating func add(_ trigram: UInt64, _ row: UInt32, _ position: UInt32) {
    var slot = Self.hash(trigram, shift)
    while true {
      let index = Int(table[slot])
      if index < 0 { return begin(trigram, row, position, slot) }
      if lists[index].trigram == trigram {
        byteCount += lists[index].add(row, position)
        return
      }
      slot = (slot + 1) & (table.count - 1)
    }
  }

  private mutating func begin(
    _ trigram: UInt64, _ row: UInt32, _ position: UInt32, _ slot: Int
  ) {
    table[slot] = Int32(lists.count)
    var list = List(
      trigram: trigram, firstRow: row, lastRow: row, lastPosition: position, lastLocation: 0,
      bytes: []
    )
    list.bytes.append(varint: UInt64(position) << 1)
    byteCount += 64
    lists.append(list)
    if lists.count * 2 > table.count { grow() }
  }

  private static func hash(_ trigram: UInt64, _ shift: Int) -> Int {
    Int(truncatingIfNeeded: (trigram &* 0x9E37_79B9_7F4A_7C15) >> UInt64(shift))
  }

  private mutating func grow() {
    shift -= 1
    table = [Int32](repeating: -1, count: table.count * 2)
    for index in lists.indices {
      var slot = Self.hash(lists[index].trigram, shift)
      while table[slot] >= 0 { slot = (slot + 1) & (table.count - 1) }
      table[slot] = Int32(index)
    }
  }

  /// Returns the lists in trigram order, and removes them.
  mutating func takeLists() -> [List] {
    let taken = lists.sorted { $0.trigram < $1.trigram }
    self = PostingCollector()
    return taken
  }
}

extension PostingCollector.List {
  /// Adds a position; returns the number of bytes by which the list has grown.
  fileprivate mutating func add(_ row: UInt32, _ position: UInt32) -> Int {
    let before = bytes.count
    if row == lastRow {
      bytes[lastLocation] |= 1
      lastLocation = before
      bytes.append(varint: UInt64(position - lastPosition) << 1)
    } else {
      bytes.append(varint: UInt64(row - lastRow))
      lastLocation = bytes.count
      bytes.append(varint: UInt64(position) << 1)
      lastRow = row
    }
    lastPosition = position
    return bytes.count - before
  }
}

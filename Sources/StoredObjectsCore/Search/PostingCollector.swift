import StoreEngine

/// Collects where in the texts of one attribute which three letters are, in memory.
///
/// Rows come in ascending order. What is collected of three letters is laid out as in a chunk, from
/// which chunks are cut later.
struct PostingCollector {
  /// What is collected of three letters.
  struct List {
    let trigram: UInt64
    let firstRow: UInt32
    var lastRow: UInt32
    var lastPosition: UInt32
    /// Where the last position stands in the bytes, whose lowest bit says whether another follows.
    var lastLocation: Int
    /// The positions in the first row; then for each row how much higher it is, and its positions.
    var bytes: [UInt8]
  }

  private(set) var lists: [List] = []
  /// About how much memory the lists take.
  private(set) var byteCount = 0
  /// Numbers of lists, by a hash of their letters; -1 where there is none.
  private var table = [Int32](repeating: -1, count: 1 << 12)
  private var shift = 64 - 12

  /// Takes on the text of a row.
  ///
  /// - Precondition: the row is above all before it.
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

  /// The lists in the order of their letters; none are left.
  mutating func takeLists() -> [List] {
    let taken = lists.sorted { $0.trigram < $1.trigram }
    self = PostingCollector()
    return taken
  }
}

extension PostingCollector.List {
  /// Adds a place; returns by how many bytes the list has grown.
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

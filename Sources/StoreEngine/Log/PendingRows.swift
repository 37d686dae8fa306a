/// The pending changes of a table's rows: a dictionary in parts.
///
/// A dictionary that grows moves all of its entries at once: with a million of them a save would take
/// a twentieth of a second longer. So does one that is copied, because a reader still has it. Here
/// only a part grows, or is copied, at a time. The parts are not of one size, so that they don't grow
/// at one time either: the sizes are evenly spread between one and its double.
///
///     hash of the row:  0 ........................................ 4095
///     parts:            | 0 | 1 |  2  |  3  |  ...      |    62    |    63    |
struct PendingRows: Sendable {
  typealias Entry = PendingRecords.Entry

  /// One part as long as there are few rows.
  private var parts: [[UInt32: Entry]] = [[:]]
  private(set) var count = 0

  private static let partCount = 64
  /// With more rows there are all parts.
  private static let splitCount = 4096
  /// The part of each hash of 12 bits.
  private static let partOfHash: [UInt8] = {
    var parts: [UInt8] = []
    // Each part is a 64th root of 2 as large as the one before it.
    var end = 4096.0
    for part in 0..<UInt8(partCount) {
      end *= 1.010_889_286_051_700_5
      while parts.count < Int((end - 4096).rounded()) { parts.append(part) }
    }
    return parts
  }()

  var isEmpty: Bool { count == 0 }

  @inline(__always)
  private func part(of row: UInt32) -> Int {
    parts.count == 1 ? 0 : Int(Self.partOfHash[Int((row &* 0x9E37_79B1) >> 20)])
  }

  /// Returns the pending change of a row, or nil if there is none.
  ///
  /// Complexity: constant time.
  subscript(row: UInt32) -> Entry? { parts[part(of: row)][row] }

  /// Sets the pending change of a row, and returns the one before it.
  ///
  /// Complexity: constant time, or linear in the size of one part where that grows.
  mutating func updateValue(_ entry: Entry, forRow row: UInt32) -> Entry? {
    if count == Self.splitCount, parts.count == 1 { split() }
    let old = parts[part(of: row)].updateValue(entry, forKey: row)
    if old == nil { count += 1 }
    return old
  }

  /// Makes room for many more rows at once; for few, the parts grow as they need to.
  mutating func reserveRoom(for newCount: Int) {
    guard newCount > count else { return }
    if count + newCount > Self.splitCount, parts.count == 1 { split() }
    if parts.count == 1 { return parts[0].reserveRoom(for: newCount) }
    // The largest part has 1.4 times as many as there would be in parts of one size.
    for part in parts.indices {
      parts[part].reserveCapacity((count + newCount) * 3 / (2 * Self.partCount))
    }
  }

  private mutating func split() {
    let all = parts[0]
    parts = Array(repeating: [:], count: Self.partCount)
    for (row, entry) in all { parts[part(of: row)][row] = entry }
  }

  /// Replaces each entry by what a closure makes of it.
  mutating func mapInPlace(_ transform: (Entry) -> Entry) {
    for part in parts.indices { parts[part].mapInPlace(transform) }
  }
}

extension PendingRows: Sequence {
  /// Visits all rows, in no order.
  func makeIterator() -> some IteratorProtocol<(key: UInt32, value: Entry)> {
    parts.joined().makeIterator()
  }

  /// So that an array of all rows is allocated once.
  var underestimatedCount: Int { count }

  /// The rows, in no order.
  var rowIDs: [UInt32] { map(\.key) }
}

/// The pending changes of a table's rows, in a dictionary that is split into parts.
///
/// A dictionary that grows moves all of its entries at once: with a million of them a save would
/// take a twentieth of a second longer. So would copying it because a reader still holds it. Here
/// only one part grows or is copied at a time. The parts have different sizes, evenly spread
/// between one size and its double, so that they don't all grow at the same time.
///
///     hash of the row:  0 ........................................ 4095
///     parts:            | 0 | 1 |  2  |  3  |  ...      |    62    |    63    |
struct PendingRows: Sendable {
  typealias Entry = PendingRecords.Entry

  /// The parts; only one while there are few rows.
  private var parts: [[UInt32: Entry]] = [[:]]
  private(set) var count = 0

  private static let partCount = 64
  /// The number of rows at which the dictionary is split into all parts.
  private static let splitCount = 4096
  /// The part for each hash of 12 bits.
  private static let partOfHash: [UInt8] = {
    var parts: [UInt8] = []
    // Each part is larger than the one before it by a factor of the 64th root of 2.
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

  /// Reserves room for many more rows at once; for a few, the parts grow as needed.
  mutating func reserveRoom(for newCount: Int) {
    guard newCount > count else { return }
    if count + newCount > Self.splitCount, parts.count == 1 { split() }
    if parts.count == 1 { return parts[0].reserveRoom(for: newCount) }
    // The largest part has 1.4 times as many entries as with parts of equal size.
    for part in parts.indices {
      parts[part].reserveCapacity((count + newCount) * 3 / (2 * Self.partCount))
    }
  }

  private mutating func split() {
    let all = parts[0]
    parts = Array(repeating: [:], count: Self.partCount)
    for (row, entry) in all { parts[part(of: row)][row] = entry }
  }

  /// Replaces each entry by the result of a closure.
  mutating func mapInPlace(_ transform: (Entry) -> Entry) {
    for part in parts.indices { parts[part].mapInPlace(transform) }
  }
}

extension PendingRows: Sequence {
  /// Visits all rows, in no particular order.
  func makeIterator() -> some IteratorProtocol<(key: UInt32, value: Entry)> {
    parts.joined().makeIterator()
  }

  /// The number of rows, so that an array of all rows is allocated only once.
  var underestimatedCount: Int { count }

  /// The rows, in no particular order.
  var rowIDs: [UInt32] { map(\.key) }
}

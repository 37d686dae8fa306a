import Files

/// The latest saves to a table that had one new key each, every key above that of the save before.
///
/// A history grows in this way with each commit, and is rarely read. Such saves are only collected,
/// and become one sorted run when the table is read or when there are many, which costs much less
/// than a run for each of them.
struct AppendedKeys: Sendable {
  /// A save and those before it; a list, because a save must not change what readers hold.
  private final class Save: Sendable {
    /// The bytes of the whole save.
    let bytes: [UInt8]
    let change: ChangeSet.KeyChange
    let previous: Save?
    /// The number of saves up to this one.
    let count: Int

    init(_ bytes: [UInt8], _ change: ChangeSet.KeyChange, after previous: Save?) {
      (self.bytes, self.change, self.previous) = (bytes, change, previous)
      count = (previous?.count ?? 0) + 1
    }

    func isAbove(_ other: Save) -> Bool {
      bytes.lend(change.key) { key in
        other.bytes.lend(other.change.key) { key.compare($0) > 0 }
      }
    }
  }

  private var last: Save?

  /// The number of saves from which they become a run.
  static let limit = 64

  var isEmpty: Bool { last == nil }
  var isFull: Bool { count == Self.limit }
  var count: Int { last?.count ?? 0 }

  /// Adds a save, if it has one key that is new and above the last one.
  ///
  /// - Returns: false, with nothing done, for any other save.
  mutating func add(_ changes: ChangeSet.OrderedTableChanges, _ bytes: [UInt8]) -> Bool {
    guard changes.changes.count == 1, !changes.clearsFirst, !isFull else { return false }
    let change = changes.changes[0]
    guard change.wasThere == false, !change.isRemoval else { return false }
    let save = Save(bytes, change, after: last)
    if let last, !save.isAbove(last) { return false }
    last = save
    return true
  }

  /// Returns the saves as one run, with their growth counted.
  func run() -> KeyRun {
    let saves = saves
    var (bytes, changes) = ([UInt8](), [ChangeSet.KeyChange]())
    bytes.reserveCapacity(saves.reduce(0) { $0 + $1.change.value.upperBound - $1.change.start })
    changes.reserveCapacity(saves.count)
    for save in saves {
      let change = save.change
      changes.append(change.moved(by: bytes.count - change.start))
      save.bytes.lend(change.start..<change.value.upperBound) { bytes.append(copying: $0) }
    }
    return KeyRun(
      bytes: bytes, sorted: changes, growth: Array(0...Int32(saves.count)),
      filter: KeyFilter(changes, bytes))
  }

  /// The saves, oldest first.
  private var saves: [Save] {
    var all: [Save] = []
    all.reserveCapacity(count)
    var next = last
    while let save = next {
      all.append(save)
      next = save.previous
    }
    return all.reversed()
  }
}

/// Gives out numbers for what has none of its own.
struct Numbering {
  /// Far from the IDs that iTunes gives, so that a later library seldom needs the same one.
  private static let first: Int64 = 1_000_001

  private var used: Set<Int64>
  private var candidate = Numbering.first

  init(used: some Sequence<Int64>) { self.used = Set(used) }

  /// A number that nothing has.
  mutating func next() -> Int64 {
    while !used.insert(candidate).inserted { candidate += 1 }
    return candidate
  }

  /// Notes a number that something has.
  mutating func take(_ number: Int64) { used.insert(number) }
}

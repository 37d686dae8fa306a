/// Assigns numbers to songs and playlists without one.
struct Numbering {
  /// The first number, which is larger than the usual IDs of iTunes.
  private static let first: Int64 = 1_000_001

  private var used: Set<Int64>
  private var candidate = Numbering.first

  init(used: some Sequence<Int64>) { self.used = Set(used) }

  /// Returns an unused number.
  mutating func next() -> Int64 {
    while !used.insert(candidate).inserted { candidate += 1 }
    return candidate
  }

  /// Marks a number as used.
  mutating func take(_ number: Int64) { used.insert(number) }
}

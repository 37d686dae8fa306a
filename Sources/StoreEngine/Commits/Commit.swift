public import FoundationEssentials

/// A change set that a backend has written: a numbered, named transaction.
///
/// Numbers begin at 1 and have no gaps. They are in the order in which commits became visible, are
/// the same for everyone, and are never given twice, whatever is closed, opened or crashes between.
public struct Commit: Sendable, Hashable {
  /// The place among all commits of the store, from 1.
  public private(set) var number: UInt64
  /// The name that the writer gave it, by which it can be found when the answer was lost.
  ///
  /// All zeros for a commit of a version that knew no tokens.
  public let token: UUID
  /// The author, as the writer gave it, or an empty text.
  public let author: String
  /// When it was written, to the microsecond, by the clock of the writer.
  ///
  /// Clocks go wrong: only ``number`` says what came first. Nil for a commit of a version that kept
  /// no time.
  public var time: Date? {
    microseconds.map { Date(timeIntervalSince1970: Double($0) / 1e6) }
  }
  /// The number up to which the writer had seen all commits; nil where it did not say.
  public let basedOn: UInt64?

  package init(number: UInt64, token: UUID, author: String, microseconds: Int64?, basedOn: UInt64?)
  {
    (self.number, self.token, self.author, self.basedOn) = (number, token, author, basedOn)
    self.microseconds = microseconds
  }

  /// The time since 1970, as it is on disk.
  package let microseconds: Int64?

  /// The same with its number.
  package func numbered(_ number: UInt64) -> Commit {
    var commit = self
    commit.number = number
    return commit
  }
}

/// Makes tokens that nobody else makes: a random half, and behind it a counter.
///
/// Drawing every token at random would take a system call each. The form is that of version 8 of
/// RFC 9562, which leaves the bits to the program.
struct TokenSource: Sendable {
  private var random: UInt64?
  private var count: UInt64 = 0

  mutating func next() -> UUID {
    let random = self.random ?? .random(in: 0 ... .max)
    self.random = random
    count += 1
    return UUID(
      high: random & ~0xF000 | 0x8000, low: count & (1 << 62 - 1) | 1 << 63)
  }
}

extension UUID {
  static let zero = UUID(high: 0, low: 0)

  /// A UUID of its two halves, the first byte being the highest of the first.
  init(high: UInt64, low: UInt64) {
    func byte(_ half: UInt64, _ index: UInt64) -> UInt8 {
      UInt8(truncatingIfNeeded: half >> (56 - 8 * index))
    }
    self.init(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
        byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }
}

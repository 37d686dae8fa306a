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
  public var token: UUID { rawToken.uuid }
  let rawToken: CommitToken
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
    self.init(
      number: number, token: CommitToken(token), author: author, microseconds: microseconds,
      basedOn: basedOn)
  }

  init(
    number: UInt64, token: CommitToken, author: String, microseconds: Int64?, basedOn: UInt64?
  ) {
    (self.number, rawToken, self.author, self.basedOn) = (number, token, author, basedOn)
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

public import FoundationEssentials

/// A change set that a backend has written: a numbered, named transaction.
///
/// Numbers begin at 1 and have no gaps. They are in the order in which commits became visible and
/// the same for every reader. They are never reused, even when stores are closed, opened or crash
/// in between.
public struct Commit: Sendable, Hashable {
  /// The position among all commits of the store, from 1.
  public private(set) var number: UInt64
  /// The name chosen by the writer, which finds the commit when the answer was lost.
  ///
  /// All zeros for a commit of a version without tokens.
  public var token: UUID { rawToken.uuid }
  let rawToken: CommitToken
  /// Whether the commit has a token.
  package var hasToken: Bool { rawToken != .zero }
  /// The author that the writer set, or an empty string.
  public let author: String
  /// The time of the commit, to the microsecond, by the clock of the writer.
  ///
  /// Clocks can be wrong: only ``number`` gives the order of commits. Nil for a commit of a version
  /// that recorded no time.
  public var time: Date? {
    microseconds.map { Date(timeIntervalSince1970: Double($0) / 1e6) }
  }
  /// The number up to which the writer had seen all commits; nil if the writer did not set it.
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

  /// The microseconds since 1970, as on disk.
  package let microseconds: Int64?

  /// Returns the same commit with its number.
  package func numbered(_ number: UInt64) -> Commit {
    var commit = self
    commit.number = number
    return commit
  }
}

public import FoundationEssentials

/// The writer's description of a commit: the author, and the data that the changes are based on.
///
///     var request = CommitRequest(author: "import")
///     request.basis = CommitBasis(upTo: backend.lastCommitNumber)
///     let commit = try backend.commit(changes, request)
public struct CommitRequest: Sendable {
  /// The name of the commit; nil lets the backend generate one.
  public var token: UUID? {
    get { rawToken?.uuid }
    set { rawToken = newValue.map { CommitToken($0) } }
  }
  private var rawToken: CommitToken?
  /// The author: at most 255 bytes of UTF-8.
  public var author: String
  /// The time, to the microsecond; nil is now.
  public var time: Date? {
    get { microseconds.map { Date(timeIntervalSince1970: Double($0) / 1e6) } }
    set { microseconds = newValue.map(Self.microseconds) }
  }
  private var microseconds: Int64?
  /// The data that the changes are based on; nil overwrites whatever others have committed.
  public var basis: CommitBasis?

  /// The inbox of the store that commits, which is not notified.
  package var sender: ChangeInbox?
  /// Whether another process has made the commit.
  package var isForeign = false
  /// Set for a commit of a copy that follows a store.
  package var replication: ReplicatedCommit?
  /// The follower of the commit on its way to the disk.
  package var follower: (any CommitFollower)?

  /// Creates a description of a commit.
  public init(
    token: UUID? = nil, author: String = "", time: Date? = nil, basis: CommitBasis? = nil
  ) {
    self.init(token: token, author: author, time: time, basis: basis, follower: nil)
  }

  /// Creates a description of a commit with a follower.
  package init(
    token: UUID? = nil, author: String = "", time: Date? = nil, basis: CommitBasis? = nil,
    follower: (any CommitFollower)?
  ) {
    rawToken = if let token { CommitToken(token) } else { nil }
    microseconds = if let time { Self.microseconds(time) } else { nil }
    self.author = author
    self.basis = basis
    self.follower = follower
  }

  private static func microseconds(_ time: Date) -> Int64 {
    Int64(exactly: (time.timeIntervalSince1970 * 1e6).rounded()) ?? 0
  }

  /// The maximum length of an author, in bytes.
  static let maximumAuthorByteCount = 255

  /// Refuses invalid values.
  ///
  /// - Throws: ``StoreError`` with `invalidArgument`.
  package func check() throws(StoreError) {
    guard author.utf8.count > Self.maximumAuthorByteCount else { return }
    throw StoreError(
      .invalidArgument,
      "An author's name has \(Self.maximumAuthorByteCount) bytes at most: give a shorter one.")
  }

  /// Returns the commit that this describes.
  package func commit(number: UInt64, token: @autoclosure () -> CommitToken) -> Commit {
    if let commit = replication?.commit { return commit.numbered(number) }
    return Commit(
      number: number, token: rawToken ?? token(), author: author,
      microseconds: microseconds ?? Self.microseconds(Date()), basedOn: basis?.number)
  }
}

/// The data that must not have changed for a change set to be valid.
///
/// A commit with a basis is refused if others have changed, after the number, a row, a named buffer
/// or a key that it changes too, or anything that is listed here.
public struct CommitBasis: Sendable {
  /// The number up to which the writer has seen all commits.
  public var number: UInt64
  /// Rows that the change set is based on and does not change.
  public var rows: [(table: TableID, rowID: UInt32)] = []
  /// Key ranges of ordered tables in which nothing may have changed, such as the key of a value
  /// that must be unique.
  public var keys: [(table: OrderedTableID, range: KeyRange)] = []

  /// Creates a basis on all commits up to a number, as returned by `lastCommitNumber`.
  public init(upTo number: UInt64) { self.number = number }
}

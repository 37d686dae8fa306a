import Files
import FoundationEssentials

extension StoreBackend {
  /// Whether the store is a copy that follows another one: it is read by everyone, and changed by
  /// its ``StoreFollower`` only.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func isFollower() throws(StoreError) -> Bool { try followerMark() != nil }

  /// Returns the place in the history of the store that this one follows; nil for a store of its
  /// own.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func followedPosition() throws(StoreError) -> HistoryPosition? {
    try followerMark()?.position
  }

  /// Whether a commit that nothing but a query needs, such as that of an index, can be made.
  package func canCommit() throws(StoreError) -> Bool {
    if isReadOnly { return false }
    return remembersCommits ? try !isFollower() : true
  }

  /// Makes a follower a store of its own, by one commit.
  ///
  /// From then on it takes commits like any other store. Its history gets another ID, since from
  /// here on it is not that of the store that it has followed.
  ///
  /// - Parameter author: The author of the commit.
  /// - Returns: the commit.
  /// - Throws: ``StoreError`` with `invalidArgument` for a store that follows no other, `damaged`
  ///   where its first copy was not finished, and as ``commit(_:_:)``.
  @discardableResult
  public func promote(author: String = "") throws(StoreError) -> Commit? {
    try promote(author: author) { _ throws(StoreError) in }
  }

  /// Makes a follower a store of its own, together with what a closure adds.
  ///
  /// - Throws: ``StoreError`` as ``promote(author:)``.
  @discardableResult
  package func promote(
    author: String, adding more: (inout ChangeSet) throws(StoreError) -> Void
  ) throws(StoreError) -> Commit? {
    var done: Commit?
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      guard let mark = try followerMark() else { throw noFollower() }
      guard mark.isWhole else { throw unfinishedCopy() }
      var changes = ChangeSet()
      changes.set(FollowerMark.key, to: nil, in: try orderedTable(FollowerMark.table))
      if let start = try historyStart() {
        changes.set(
          HistoryFormat.stampKey, to: HistoryFormat.encoded(.init(since: start, id: UUID())),
          in: try orderedTable(HistoryFormat.table))
      }
      try more(&changes)
      var request = CommitRequest(author: author)
      request.replication = ReplicatedCommit(nil, isRemembered: true)
      done = try commit(changes, request)
    }
    return done
  }

  /// Makes a copy a follower, without a commit of its own: its last commit is made once more, with
  /// the place that it stands for.
  ///
  /// Nobody else has the copy yet.
  func beginFollowing() throws(StoreError) {
    let position = try historyPosition()
    let last = coordinator.journal.last ?? Commit(unnamed: position.number)
    try finishCopy(at: position, last)
  }

  /// Writes the place of a copy as the commit that it stands for.
  func finishCopy(at position: HistoryPosition, _ last: Commit) throws(StoreError) {
    try continueNumbers(after: last.number > 1 ? Commit(unnamed: last.number - 1) : nil)
    var changes = ChangeSet()
    changes.set(
      FollowerMark.key, to: FollowerMark(position).bytes, in: try orderedTable(FollowerMark.table))
    try commit(changes, .replicating(last))
  }

  /// What the store says of the one that it follows; nil for a store of its own.
  func followerMark() throws(StoreError) -> FollowerMark? {
    var bytes: [UInt8] = []
    let table = try orderedTable(FollowerMark.table)
    guard try copyValue(of: FollowerMark.key, in: table, to: &bytes) else { return nil }
    return try followerMark(bytes)
  }

  private func followerMark(_ bytes: [UInt8]) throws(StoreError) -> FollowerMark {
    do { return try FollowerMark(bytes) } catch {
      throw StoreError(
        .damaged, "The place in the followed history makes no sense: \(error). Make a new copy.",
        at: .init(path: location, className: FollowerMark.table.fileName), underlying: error)
    }
  }

  /// The error of a commit on a follower.
  func follows() -> StoreError {
    StoreError(
      .readOnly,
      """
      The store follows another one, and takes no other commits. Save to that one, or make this one \
      a store of its own: promote(), or stored-objects promote.
      """,
      at: .init(path: location))
  }

  private func noFollower() -> StoreError {
    StoreError(.invalidArgument, "The store follows no other one.", at: .init(path: location))
  }

  func unfinishedCopy() -> StoreError {
    StoreError(
      .damaged, "The first copy of the followed store was not finished. Remove it and copy again.",
      at: .init(path: location))
  }
}

extension LoggedBackend {
  /// Refuses the commit of anyone but the follower, in a store that follows another one.
  ///
  /// Called under the lock of the log.
  func checkMayCommit(_ one: QueuedCommit, _ log: inout LoggedLog) throws(StoreError) {
    // It may make the store a follower.
    if one.request.replication != nil { return log.isNoFollower = false }
    if log.isNoFollower { return }
    let table = try files.ordered.table(sealedName(FollowerMark.table))
    log.isNoFollower = try withValue(of: FollowerMark.key, in: table) { _ in true } == nil
    if !log.isNoFollower { throw follows() }
  }
}

extension MemoryBackend {
  /// Refuses the commit of anyone but the follower, in a store that follows another one.
  func checkMayCommit(_ request: CommitRequest) throws(StoreError) {
    if request.replication == nil, try isFollower() { throw follows() }
  }
}

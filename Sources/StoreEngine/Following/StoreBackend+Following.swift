import Files
import FoundationEssentials

extension StoreBackend {
  /// Returns whether the store is a copy that follows another store.
  ///
  /// Any program can read a follower. Only its ``StoreFollower`` changes it.
  ///
  /// Complexity: one look-up.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func isFollower() throws(StoreError) -> Bool { try followerMark() != nil }

  /// Returns the position of this store in the history that it follows; nil if it follows none.
  ///
  /// Complexity: one look-up.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  public func followedPosition() throws(StoreError) -> HistoryPosition? {
    try followerMark()?.position
  }

  /// Whether a query can commit, for example an index that it has built.
  package func canCommit() throws(StoreError) -> Bool {
    if isReadOnly { return false }
    return remembersCommits ? try !isFollower() : true
  }

  /// Turns a follower into an independent store, by one commit.
  ///
  /// From then on it accepts commits like any other store. Its history gets a new ID, because it
  /// differs from the followed history from here on.
  ///
  /// Complexity: as a commit of two keys.
  ///
  /// - Parameter author: The author of the commit.
  /// - Returns: The commit.
  /// - Throws: ``StoreError`` with `invalidArgument` if the store follows no other store, `damaged`
  ///   if its first copy was not finished, or an error of ``commit(_:_:)``.
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

  /// Turns a new copy into a follower, without a commit of its own.
  ///
  /// The last commit of the copy is made again, with the position in the followed history. No other
  /// program has the copy open yet.
  func beginFollowing() throws(StoreError) {
    let position = try historyPosition()
    let last = coordinator.journal.last ?? Commit(unnamed: position.number)
    try finishCopy(at: position, last)
  }

  /// Writes the position of a copy, in a commit with the number and the token of its last commit.
  func finishCopy(at position: HistoryPosition, _ last: Commit) throws(StoreError) {
    try continueNumbers(after: last.number > 1 ? Commit(unnamed: last.number - 1) : nil)
    var changes = ChangeSet()
    changes.set(
      FollowerMark.key, to: FollowerMark(position).bytes, in: try orderedTable(FollowerMark.table))
    try commit(changes, .replicating(last))
  }

  /// Returns the position in the followed history; nil if the store follows no other store.
  func followerMark() throws(StoreError) -> FollowerMark? {
    var bytes: [UInt8] = []
    let table = try orderedTable(FollowerMark.table)
    guard try copyValue(of: FollowerMark.key, in: table, to: &bytes) else { return nil }
    return try followerMark(bytes)
  }

  private func followerMark(_ bytes: [UInt8]) throws(StoreError) -> FollowerMark {
    do { return try FollowerMark(bytes) } catch {
      throw StoreError(
        .damaged, "The position in the followed history is invalid: \(error). Make a new copy.",
        at: .init(path: location, className: FollowerMark.table.fileName), underlying: error)
    }
  }

  /// Returns the error of a commit on a follower.
  package func follows() -> StoreError {
    StoreError(
      .readOnly,
      """
      The store is a copy that follows another store, so you can't save to it. Save to the \
      followed store, or call promote() or run stored-objects promote to make the copy a store of \
      its own.
      """,
      at: .init(path: location))
  }

  private func noFollower() -> StoreError {
    StoreError(.invalidArgument, "The store follows no other store.", at: .init(path: location))
  }

  func unfinishedCopy() -> StoreError {
    StoreError(
      .damaged, "The first copy of the followed store was not finished. Remove it and copy again.",
      at: .init(path: location))
  }
}

extension LoggedBackend {
  /// Throws if the store follows another one and the commit is not made by its follower.
  ///
  /// Called under the lock of the log.
  func checkMayCommit(_ one: QueuedCommit, _ log: inout LoggedLog) throws(StoreError) {
    // The commit may turn the store into a follower.
    if one.request.replication != nil { return log.isNoFollower = false }
    if log.isNoFollower { return }
    let table = try files.ordered.table(sealedName(FollowerMark.table))
    log.isNoFollower = try withValue(of: FollowerMark.key, in: table) { _ in true } == nil
    if !log.isNoFollower { throw follows() }
  }
}

extension MemoryBackend {
  /// Throws if the store follows another one and the commit is not made by its follower.
  func checkMayCommit(_ request: CommitRequest) throws(StoreError) {
    if request.replication == nil, try isFollower() { throw follows() }
  }
}

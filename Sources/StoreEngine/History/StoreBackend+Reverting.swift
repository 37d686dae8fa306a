import Files

extension StoreBackend {
  /// Takes back all commits behind a number, by one that is like any other.
  ///
  /// Records, named buffers and the items of key-value stores are then as they were after the commit
  /// with that number. What is taken back stays in the history, and so does this commit, which can be
  /// taken back in turn.
  /// Row IDs are not given out again. Indexes are made again when they are next needed. Other stores
  /// on the backend learn of it as of every other commit.
  ///
  /// To look at an earlier state, and leave the store as it is, use ``snapshot(asOf:)``.
  ///
  /// Complexity: linear in the entries of the history behind the number. Memory: what they have
  /// changed.
  ///
  /// - Parameters:
  ///   - number: The last commit that stays.
  ///   - author: Who takes the others back.
  /// - Returns: the commit; nil if nothing has changed since.
  /// - Throws: ``StoreError`` with `historyExpired` when not all commits behind the number are
  ///   remembered, `damaged`, and as ``commit(_:_:)``.
  @discardableResult
  public func revert(
    toCommit number: UInt64, author: String = ""
  ) throws(StoreError) -> Commit? {
    var done: Commit?
    try coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      let state = try EarlierState(of: self, asOf: number)
      done = try commit(try state.changes(in: self), CommitRequest(author: author))
    }
    return done
  }
}

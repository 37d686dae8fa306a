import Files

extension StoreBackend {
  /// Undoes all commits after a number, by a new commit.
  ///
  /// Records, named buffers and the items of key-value stores are then as they were after the
  /// commit with that number. The undone commits stay in the history, and so does the new commit,
  /// which can be undone in turn. Row IDs are not reused. Indexes are rebuilt when they are next
  /// needed. Other stores on the backend are notified as of every other commit.
  ///
  /// To read an earlier state without changing the store, use ``snapshot(asOf:)``.
  ///
  /// Complexity: linear in the entries of the history after the number. Memory: the size of their
  /// changes.
  ///
  /// - Parameters:
  ///   - number: The last commit that stays.
  ///   - author: The author of the new commit.
  /// - Returns: The new commit; nil if nothing has changed since.
  /// - Throws: ``StoreError`` with `historyExpired` if some commits after the number are not in the
  ///   history, with `damaged`, or an error of ``commit(_:_:)``.
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

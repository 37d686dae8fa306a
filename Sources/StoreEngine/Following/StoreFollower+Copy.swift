import Files

extension StoreFollower {
  /// Applies a part of the first copy.
  mutating func apply(
    copyPart bytes: [UInt8], _ header: HistoryPosition
  ) throws(StoreError) {
    let entry = try entry(bytes)
    guard entry.commit.number == header.number else { throw noCopy(of: header) }
    // The target is complete, so the copy in this stream is not needed.
    if let mark = try target.followerMark(), mark.isWhole { return try skipCopy(mark, header) }
    var changes = ReplayedChanges(target)
    try changes.addNew(entry)
    try changes.mark(FollowerMark(header, isWhole: false))
    try target.commit(changes.changes, .replicating(nil))
  }

  /// Marks the first copy as complete.
  mutating func endCopy(_ last: Commit, _ header: HistoryPosition) throws(StoreError) {
    guard header.behind(last).isSame(as: header) else { throw noCopy(of: header) }
    if let mark = try target.followerMark(), mark.isWhole { return try skipCopy(mark, header) }
    // The stream must have brought the history itself.
    guard try target.historyID() == header.historyID else { throw noCopy(of: header) }
    try values.settleCopy(of: target)
    try target.finishCopy(at: header, last)
  }

  /// Skips the copy in a stream; only the entries after it are applied.
  private mutating func skipCopy(
    _ mark: FollowerMark, _ header: HistoryPosition
  ) throws(StoreError) {
    guard mark.position.historyID == header.historyID else { throw other(header, mark.position) }
    try values.discard(from: target)
  }

  private func noCopy(of header: HistoryPosition) -> StoreError {
    StoreError(
      .damaged,
      "The copy in the stream, as of \(header), is incomplete. Read it again from its source.",
      at: .init(path: target.location))
  }
}

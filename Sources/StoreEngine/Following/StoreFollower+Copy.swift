import Files

extension StoreFollower {
  /// Adds a part of the first copy.
  mutating func apply(
    copyPart bytes: [UInt8], _ header: HistoryPosition
  ) throws(StoreError) {
    let entry = try entry(bytes)
    guard entry.commit.number == header.number else { throw noCopy(of: header) }
    // The copy is there already: this stream begins with another one.
    if let mark = try target.followerMark(), mark.isWhole { return try skipCopy(mark, header) }
    var changes = ReplayedChanges(target)
    try changes.addNew(entry)
    try changes.mark(FollowerMark(header, isWhole: false))
    try target.commit(changes.changes, .replicating(nil))
  }

  /// Makes the copy one that can be followed with.
  mutating func endCopy(_ last: Commit, _ header: HistoryPosition) throws(StoreError) {
    guard header.behind(last).isSame(as: header) else { throw noCopy(of: header) }
    if let mark = try target.followerMark(), mark.isWhole { return try skipCopy(mark, header) }
    // Something has begun it, or the stream holds no history.
    guard try target.historyID() == header.historyID else { throw noCopy(of: header) }
    try values.settleCopy(of: target)
    try target.finishCopy(at: header, last)
  }

  /// A stream with a copy that the target has gone beyond: its entries are what is of interest.
  private mutating func skipCopy(
    _ mark: FollowerMark, _ header: HistoryPosition
  ) throws(StoreError) {
    guard mark.position.historyID == header.historyID else { throw other(header, mark.position) }
    try values.discard(from: target)
  }

  private func noCopy(of header: HistoryPosition) -> StoreError {
    StoreError(
      .damaged,
      "The stream holds no whole copy of the store as of \(header). Read it again from its source.",
      at: .init(path: target.location))
  }
}

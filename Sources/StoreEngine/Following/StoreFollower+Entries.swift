import Files
import FoundationEssentials

extension StoreFollower {
  /// Applies an entry, unless the copy has its commit.
  mutating func apply(
    entry bytes: [UInt8], since: UInt64, _ header: HistoryPosition
  ) throws(StoreError) {
    let entry = try entry(bytes)
    let (target, commit) = (target, entry.commit)
    if let limit, commit.number > limit { return try values.discard(from: target) }
    var released: [ExternalID] = []
    let isNew = try target.coordinator.whileCommitting { () throws(StoreError) in
      guard let known = try position() else { throw missing(header.number, .none(header)) }
      guard known.historyID == header.historyID else { throw other(header, known) }
      let place = header.behind(commit)
      if commit.number == known.number, !place.isSame(as: known) { throw other(place, known) }
      if commit.number <= known.number { return false }
      guard commit.number == known.number + 1 else { throw missing(commit.number - 1, known) }
      guard target.lastCommitNumber == known.number else { throw hasOwnCommits(known) }
      try values.settle(entry.newReferences, of: target)
      var changes = ReplayedChanges(target)
      try changes.add(entry)
      try changes.remember(entry, bytes)
      if let numbers = try forget(through: since, before: commit.number) {
        released = try changes.forget(numbers, known.historyID)
      }
      try changes.mark(FollowerMark(place))
      try target.commit(changes.changes, .replicating(commit))
      return true
    }
    if isNew { target.removeReleased(released) } else { try values.discard(from: target) }
    sourceCommitNumber = max(sourceCommitNumber ?? 0, commit.number)
  }

  /// Returns the entries to purge from the copy because the source purged them; at most 1,000.
  private mutating func forget(
    through since: UInt64, before number: UInt64
  ) throws(StoreError) -> ClosedRange<UInt64>? {
    guard since < number else {
      throw StoreError(
        .damaged,
        """
        An entry of the stream is older than the history of its source. Read the stream again from \
        its source.
        """,
        at: .init(path: target.location))
    }
    if historyStart == nil { historyStart = try target.historyStart() }
    let start = historyStart ?? since
    guard since > start else { return nil }
    let end = min(since, start + 1000)
    historyStart = end
    return start + 1...end
  }

  private func hasOwnCommits(_ known: HistoryPosition) -> StoreError {
    StoreError(
      .otherHistory,
      """
      The last commit of the copy is \(target.lastCommitNumber), and the last one of the followed \
      store in it is \(known.number). Another program has saved to the copy. Make a new copy.
      """,
      at: .init(path: target.location))
  }
}

extension HistoryPosition {
  /// Returns the position of an empty copy.
  fileprivate static func none(_ header: HistoryPosition) -> HistoryPosition {
    HistoryPosition(historyID: header.historyID, number: 0, token: CommitToken.zero.uuid)
  }
}

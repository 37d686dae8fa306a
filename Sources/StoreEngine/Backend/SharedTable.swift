import Locks
package import Synchronization

/// What all stores on a backend have to agree on about one table.
package final class SharedTable: Sendable {
  /// The last row ID handed out, or found in the table.
  ///
  /// Objects start at row 2.
  private let last = Atomic<UInt64>(1)
  /// How many commits have touched the table since the backend was opened.
  package let commits = Atomic<UInt64>(0)
  private let isLearned = Atomic(false)
  private let format = Locked<ClassMetadata.Flags?>(nil)
  private let savedMetadata = Locked<ClassMetadata?>(nil)
  private let isSaved = Atomic(false)
  /// Whether rows come from blocks.
  private let hasBlocks = Atomic(false)
  private let block = Locked<RowBlock?>(nil)

  /// Rows that this process has to itself, where others give out rows, too.
  private struct RowBlock {
    var rest: Range<UInt64> = 0..<0
    /// How many rows the next block has beyond those that are asked for.
    var size = 32
    /// Takes rows that no other process gets.
    let take: RowSource
  }

  /// Takes rows that no other process gets; nil where there are too few.
  typealias RowSource = @Sendable (_ count: Int) throws(StoreError) -> ClosedRange<UInt32>?

  /// Why the last block could not be taken; nil where it could, or where there are no rows left.
  private let failure = Locked<StoreError?>(nil)

  /// The last row ID handed out.
  package var lastRowID: UInt32 { UInt32(clamping: last.load(ordering: .acquiring)) }

  /// The rows up to the last one that are in a block of this process, and not handed out yet.
  package var openRows: Range<UInt64> {
    guard hasBlocks.load(ordering: .acquiring) else { return 0..<0 }
    return block.withLock { $0?.rest ?? 0..<0 }
  }

  /// The next row ID, each handed out once, or nil when there is none left.
  package func nextRowID() -> UInt32? { reserve(1)?.lowerBound }

  /// Counts all rows up to one as handed out.
  package func handOut(upTo rowID: UInt32) {
    _ = last.max(UInt64(rowID), ordering: .acquiringAndReleasing)
    guard hasBlocks.load(ordering: .acquiring) else { return }
    block.withLock { block in
      guard let rest = block?.rest, rest.contains(UInt64(rowID)) else { return }
      block?.rest = UInt64(rowID) + 1..<rest.upperBound
    }
  }

  /// The next row IDs, or nil when there are not so many left.
  func reserve(_ count: Int) -> ClosedRange<UInt32>? {
    if hasBlocks.load(ordering: .acquiring) { return reserveInBlocks(count) }
    var known = last.load(ordering: .acquiring)
    while true {
      // Where there are too few, those that there are stay for others.
      guard let end = UInt32(exactly: known + UInt64(count)) else { return nil }
      let (isDone, found) = last.compareExchange(
        expected: known, desired: UInt64(end), ordering: .acquiringAndReleasing)
      if isDone { return UInt32(known) + 1...end }
      known = found
    }
  }

  /// Has rows come from blocks that a closure takes.
  func useBlocks(_ take: @escaping RowSource) {
    block.withLock { $0 = RowBlock(take: take) }
    hasBlocks.store(true, ordering: .releasing)
  }

  private func reserveInBlocks(_ count: Int) -> ClosedRange<UInt32>? {
    let (rows, block) = block.withLock { block -> (ClosedRange<UInt32>?, RowBlock?) in
      guard let rest = block?.rest, rest.count >= count else { return (nil, block) }
      block?.rest = rest.lowerBound + UInt64(count)..<rest.upperBound
      return (UInt32(rest.lowerBound)...UInt32(rest.lowerBound) + UInt32(count) - 1, block)
    }
    guard rows == nil, let block else { return rows }
    // Threads that do so at once get a block each, and what is left of one is not given out.
    guard let taken = take(count + block.size, block) ?? take(count, block) else { return nil }
    let end = UInt64(taken.lowerBound) + UInt64(count)
    self.block.withLock {
      $0?.rest = end..<UInt64(taken.upperBound) + 1
      $0?.size = min(block.size * 2, 1024)
    }
    return taken.lowerBound...UInt32(end - 1)
  }

  private func take(_ count: Int, _ block: RowBlock) -> ClosedRange<UInt32>? {
    do {
      let rows = try block.take(count)
      failure.withLock { $0 = nil }
      return rows
    } catch {
      failure.withLock { $0 = error }
      return nil
    }
  }

  /// Why no row ID could be handed out, where some are left.
  package var rowFailure: StoreError? { failure.withLock { $0 } }

  /// Whether the metadata row has been looked for.
  var hasLearned: Bool { isLearned.load(ordering: .acquiring) }

  /// The metadata row as it was last saved; nil before the first save.
  package var metadata: ClassMetadata? { savedMetadata.withLock { $0 } }

  /// Whether there is a metadata row.
  package var hasMetadata: Bool { isSaved.load(ordering: .acquiring) }

  /// Takes note of the metadata row that is saved.
  ///
  /// No row ID up to its last is handed out again.
  package func setMetadata(_ metadata: ClassMetadata) {
    savedMetadata.withLock { saved in
      // Saves that are under way together may say so in another order than they were written.
      if let saved, saved.lastRowID > metadata.lastRowID { return }
      saved = metadata
      isSaved.store(true, ordering: .releasing)
    }
    _ = last.max(UInt64(metadata.lastRowID), ordering: .acquiringAndReleasing)
  }

  /// Takes note of the metadata row that is in the table, unless a later one is known; nil when
  /// there is none.
  package func learn(_ metadata: ClassMetadata?) {
    isLearned.store(true, ordering: .releasing)
    guard let metadata else { return }
    savedMetadata.withLock { saved in
      if saved == nil { saved = metadata }
      isSaved.store(true, ordering: .releasing)
    }
    _ = last.max(UInt64(metadata.lastRowID), ordering: .acquiringAndReleasing)
  }

  /// Forgets a table whose records are gone, or have come from elsewhere.
  package func forget() {
    savedMetadata.withLock { saved in
      saved = nil
      isSaved.store(false, ordering: .releasing)
    }
    format.withLock { $0 = nil }
    isLearned.store(false, ordering: .releasing)
    last.store(1, ordering: .releasing)
  }

  /// How records are laid out: what the metadata row says, or what the first store to ask wants.
  ///
  /// The row of an original class says nothing. All stores get the same answer.
  package func recordFormat(
    newClass: ClassMetadata.Flags, originalClass: ClassMetadata.Flags
  ) -> ClassMetadata.Flags {
    format.withLock { known in
      let found = metadata.map { $0.flags ?? originalClass }
      let decided = known ?? found ?? newClass
      known = decided
      return decided
    }
  }

  /// Takes note of a commit.
  func countCommit() { commits.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

import Locks
package import Synchronization

/// The state of one table that all stores on a backend share.
package final class SharedTable: Sendable {
  /// The table's number in the backend.
  package let id: TableID
  /// The last row ID that was allocated, or found in the table.
  ///
  /// Objects start at row 2.
  private let last = Atomic<UInt64>(1)
  /// The number of commits that have touched the table since the backend was opened.
  package let commits = Atomic<UInt64>(0)
  private let isLearned = Atomic(false)
  private let format = Locked<ClassMetadata.Flags?>(nil)
  private let savedMetadata = Locked<ClassMetadata?>(nil)
  private let isSaved = Atomic(false)
  /// Whether row IDs come from blocks.
  private let hasBlocks = Atomic(false)
  private let block = Locked<RowBlock?>(nil)

  /// Row IDs reserved for this process, where other processes allocate row IDs, too.
  private struct RowBlock {
    var rest: Range<UInt64> = 0..<0
    /// The number of row IDs that the next block has in addition to the requested ones.
    var size: Int
    /// Reserves row IDs that no other process gets.
    let take: RowSource
  }

  /// A closure that reserves row IDs that no other process gets; it returns nil if there are too
  /// few.
  package typealias RowSource = @Sendable (_ count: Int) throws(StoreError) -> ClosedRange<UInt32>?

  /// The error of the last attempt to reserve a block; nil if it succeeded, or if no row IDs are
  /// left.
  private let failure = Locked<StoreError?>(nil)

  init(_ id: TableID) { self.id = id }

  /// The last row ID that was allocated.
  package var lastRowID: UInt32 { UInt32(clamping: last.load(ordering: .acquiring)) }

  /// The row IDs up to the last one that are in a block of this process and not allocated yet.
  package var openRows: Range<UInt64> {
    guard hasBlocks.load(ordering: .acquiring) else { return 0..<0 }
    return block.withLock { $0?.rest ?? 0..<0 }
  }

  /// Returns the next row ID, each only once; nil if none is left.
  package func nextRowID() -> UInt32? { reserve(1)?.lowerBound }

  /// Marks all row IDs up to one as allocated.
  package func handOut(upTo rowID: UInt32) {
    _ = last.max(UInt64(rowID), ordering: .acquiringAndReleasing)
    guard hasBlocks.load(ordering: .acquiring) else { return }
    block.withLock { block in
      guard let rest = block?.rest, rest.contains(UInt64(rowID)) else { return }
      block?.rest = UInt64(rowID) + 1..<rest.upperBound
    }
  }

  /// Returns the next row IDs; nil if there are not enough.
  func reserve(_ count: Int) -> ClosedRange<UInt32>? {
    if hasBlocks.load(ordering: .acquiring) { return reserveInBlocks(count) }
    var known = last.load(ordering: .acquiring)
    while true {
      // If there are too few, the remaining ones stay available for others.
      guard let end = UInt32(exactly: known + UInt64(count)) else { return nil }
      let (isDone, found) = last.compareExchange(
        expected: known, desired: UInt64(end), ordering: .acquiringAndReleasing)
      if isDone { return UInt32(known) + 1...end }
      known = found
    }
  }

  /// Makes row IDs come from blocks that a closure reserves.
  ///
  /// - Parameters:
  ///   - size: The number of row IDs that the first block has in addition to the requested ones;
  ///     with 0, no block has more.
  ///   - take: Reserves row IDs that nobody else gets.
  package func useBlocks(size: Int = 32, _ take: @escaping RowSource) {
    block.withLock { $0 = RowBlock(size: size, take: take) }
    hasBlocks.store(true, ordering: .releasing)
  }

  private func reserveInBlocks(_ count: Int) -> ClosedRange<UInt32>? {
    let (rows, block) = block.withLock { block -> (ClosedRange<UInt32>?, RowBlock?) in
      guard let rest = block?.rest, rest.count >= count else { return (nil, block) }
      block?.rest = rest.lowerBound + UInt64(count)..<rest.upperBound
      return (UInt32(rest.lowerBound)...UInt32(rest.lowerBound) + UInt32(count) - 1, block)
    }
    guard rows == nil, let block else { return rows }
    // Threads that do so at the same time get a block each, and the rest of one of them is not
    // used.
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

  /// The error because of which no row ID could be allocated, although some are left.
  package var rowFailure: StoreError? { failure.withLock { $0 } }

  /// Whether the metadata row has been read.
  var hasLearned: Bool { isLearned.load(ordering: .acquiring) }

  /// The metadata row as last saved; nil before the first save.
  package var metadata: ClassMetadata? { savedMetadata.withLock { $0 } }

  /// Whether the table has a metadata row.
  package var hasMetadata: Bool { isSaved.load(ordering: .acquiring) }

  /// Records the metadata row that is saved.
  ///
  /// No row ID up to its last one is allocated again.
  package func setMetadata(_ metadata: ClassMetadata) {
    savedMetadata.withLock { saved in
      // Concurrent saves may report this in another order than they were written.
      if let saved, saved.lastRowID > metadata.lastRowID { return }
      saved = metadata
      isSaved.store(true, ordering: .releasing)
    }
    _ = last.max(UInt64(metadata.lastRowID), ordering: .acquiringAndReleasing)
  }

  /// Records the metadata row that is in the table, unless a later one is known; nil if there is
  /// none.
  package func learn(_ metadata: ClassMetadata?) {
    isLearned.store(true, ordering: .releasing)
    guard let metadata else { return }
    savedMetadata.withLock { saved in
      if saved == nil { saved = metadata }
      isSaved.store(true, ordering: .releasing)
    }
    _ = last.max(UInt64(metadata.lastRowID), ordering: .acquiringAndReleasing)
  }

  /// Forgets a table whose records were removed or replaced.
  package func forget() {
    savedMetadata.withLock { saved in
      saved = nil
      isSaved.store(false, ordering: .releasing)
    }
    format.withLock { $0 = nil }
    isLearned.store(false, ordering: .releasing)
    last.store(1, ordering: .releasing)
  }

  /// Returns the format of records: that of the metadata row, or the one that the first store asks
  /// for.
  ///
  /// The metadata row of an original class doesn't contain it. All stores get the same answer.
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

  /// Counts a commit.
  func countCommit() { commits.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

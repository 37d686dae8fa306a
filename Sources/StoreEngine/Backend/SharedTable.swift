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

  /// The last row ID handed out.
  package var lastRowID: UInt32 { UInt32(clamping: last.load(ordering: .acquiring)) }

  /// The next row ID, each handed out once, or nil when there is none left.
  package func nextRowID() -> UInt32? { reserve(1)?.lowerBound }

  /// Counts all rows up to one as handed out.
  package func handOut(upTo rowID: UInt32) {
    _ = last.max(UInt64(rowID), ordering: .acquiringAndReleasing)
  }

  /// The next row IDs, or nil when there are not so many left.
  func reserve(_ count: Int) -> ClosedRange<UInt32>? {
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

  /// Whether the metadata row has been looked for.
  var hasLearned: Bool { isLearned.load(ordering: .acquiring) }

  /// The metadata row as it was last saved; nil before the first save.
  package var metadata: ClassMetadata? { savedMetadata.withLock { $0 } }

  /// Takes note of the metadata row that is saved.
  ///
  /// No row ID up to its last is handed out again.
  package func setMetadata(_ metadata: ClassMetadata) {
    savedMetadata.withLock { saved in
      // Saves that are under way together may say so in another order than they were written.
      if let saved, saved.lastRowID > metadata.lastRowID { return }
      saved = metadata
    }
    _ = last.max(UInt64(metadata.lastRowID), ordering: .acquiringAndReleasing)
  }

  /// Takes note of the metadata row that is in the table, unless a later one is known; nil when
  /// there is none.
  package func learn(_ metadata: ClassMetadata?) {
    isLearned.store(true, ordering: .releasing)
    guard let metadata else { return }
    savedMetadata.withLock { if $0 == nil { $0 = metadata } }
    _ = last.max(UInt64(metadata.lastRowID), ordering: .acquiringAndReleasing)
  }

  /// Forgets a table whose records are gone, or have come from elsewhere.
  package func forget() {
    savedMetadata.withLock { $0 = nil }
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

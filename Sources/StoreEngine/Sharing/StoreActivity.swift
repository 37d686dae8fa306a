/// The saves and look-ups of the programs that have a store open for writing.
///
/// The numbers are those since the first of these programs has opened the store.
package struct StoreActivity: Sendable, Equatable {
  /// The times of the saves.
  package private(set) var saves: SaveTimes
  /// The number of objects that were looked up.
  ///
  /// A program adds its look-ups with each save and merge, and after each 4,096 records that it has
  /// read.
  package private(set) var lookUps: StoreLookUps

  /// Creates the activity of programs that have done nothing.
  package init() { (saves, lookUps) = (SaveTimes(), StoreLookUps()) }

  /// Reads the activity of a store.
  ///
  /// Complexity: reads a small file, and the names of the files that the programs have open.
  ///
  /// - Returns: nil if no process has the store open for writing. Also nil for an exclusive process of
  ///   another user, and for one that has done nothing with the store yet.
  package init?(ofStoreAt directory: String) {
    typealias Word = ActivityCounter.Word
    guard let words = ActivityCounter.words(ofStoreAt: directory) else { return nil }
    saves = SaveTimes(counts: words[Word.saves...])
    lookUps = StoreLookUps()
    lookUps.hits = Int(truncatingIfNeeded: words[Word.hits])
    lookUps.misses = Int(truncatingIfNeeded: words[Word.misses])
  }

  /// Returns the activity after an earlier look.
  package func since(_ earlier: StoreActivity) -> StoreActivity {
    var new = self
    new.saves = saves.since(earlier.saves)
    // The processes have ended meanwhile, and others have begun again.
    if lookUps.hits >= earlier.lookUps.hits, lookUps.misses >= earlier.lookUps.misses {
      new.lookUps.hits -= earlier.lookUps.hits
      new.lookUps.misses -= earlier.lookUps.misses
    }
    return new
  }
}

extension StoreLookUps {
  /// The number of all look-ups.
  package var count: Int { hits &+ misses }

  /// The share of the objects that were in memory, in percent with one digit; nil without look-ups.
  package var hitPercentage: Double? {
    count > 0 ? (Double(hits) / Double(count) * 1000).rounded() / 10 : nil
  }
}

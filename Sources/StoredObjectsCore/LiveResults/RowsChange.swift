/// A change of an ordered list, independent of the class.
struct RowsChange {
  struct Row {
    let key: ObjectKey
    let place: ResultPlace
  }

  struct Move {
    let key: ObjectKey
    let from: ResultPlace
    let to: ResultPlace
    /// Whether the row stays in its section.
    let isInSection: Bool
  }

  /// The removed rows, with their places before the change.
  var removed: [Row] = []
  /// The inserted rows, with their places after the change, as in the following lists.
  var inserted: [Row] = []
  var moved: [Move] = []
  var updated: [Row] = []
  var removedSections: [Int] = []
  var insertedSections: [Int] = []
  var isReset = false
  /// The number of rows after the change.
  var count = 0

  /// The number of listed rows.
  var rowCount: Int { removed.count + inserted.count + moved.count + updated.count }

  mutating func sort() {
    removed.sort { $0.place.index < $1.place.index }
    inserted.sort { $0.place.index < $1.place.index }
    moved.sort { $0.to.index < $1.to.index }
    updated.sort { $0.place.index < $1.place.index }
  }

  /// Adds rows whose sort keys have changed, as moved if necessary and as updated otherwise.
  ///
  /// Set the removed and inserted rows before.
  ///
  /// Complexity: O(k log k) for k rows.
  mutating func setMoves(_ moves: [Move]) {
    let leaving = (removed.map(\.place.index) + moves.map(\.from.index)).sorted()
    let coming = (inserted.map(\.place.index) + moves.map(\.to.index)).sorted()
    var stays: [Move] = []
    for move in moves {
      // The number of rows in front that stay where they are.
      let before = move.from.index - leaving.count(below: move.from.index)
      let after = move.to.index - coming.count(below: move.to.index)
      if before == after, move.isInSection {
        stays.append(move)
      } else {
        moved.append(move)
      }
    }
    // Of the rows between the same two others, those that keep their order have not moved.
    stays.sort { $0.from.index < $1.from.index }
    let kept = stays.map(\.to.index).longestIncreasingPart()
    for (index, move) in stays.enumerated() {
      if kept.contains(index) {
        updated.append(Row(key: move.key, place: move.to))
      } else {
        moved.append(move)
      }
    }
  }
}

extension [Int] {
  /// Returns the number of elements of a sorted array that are less than a number.
  fileprivate func count(below number: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the indices of a longest strictly increasing subsequence; all elements differ.
  fileprivate func longestIncreasingPart() -> Set<Int> {
    // The index of the least end of a subsequence of each length, and each element's predecessor.
    var ends: [Int] = []
    var previous: [Int?] = []
    for (index, element) in enumerated() {
      var (length, high) = (0, ends.count)
      while length < high {
        let middle = (length + high) / 2
        if self[ends[middle]] < element { length = middle + 1 } else { high = middle }
      }
      previous.append(length > 0 ? ends[length - 1] : nil)
      if length < ends.count { ends[length] = index } else { ends.append(index) }
    }
    var part: Set<Int> = []
    var next = ends.last
    while let index = next {
      part.insert(index)
      next = previous[index]
    }
    return part
  }
}

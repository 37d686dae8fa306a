/// What has changed in a list in order, whatever the class.
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

  /// Their places before the change.
  var removed: [Row] = []
  /// Their places after the change, as of all that follow.
  var inserted: [Row] = []
  var moved: [Move] = []
  var updated: [Row] = []
  var removedSections: [Int] = []
  var insertedSections: [Int] = []
  var isReset = false
  /// The number of rows after the change.
  var count = 0

  /// How many rows are listed.
  var rowCount: Int { removed.count + inserted.count + moved.count + updated.count }

  mutating func sort() {
    removed.sort { $0.place.index < $1.place.index }
    inserted.sort { $0.place.index < $1.place.index }
    moved.sort { $0.to.index < $1.to.index }
    updated.sort { $0.place.index < $1.place.index }
  }

  /// Adds rows whose sort keys have changed: those that have to be moved as moves, the others as
  /// updated.
  ///
  /// Needs the removed and inserted rows.
  ///
  /// Complexity: O(k log k) for k rows.
  mutating func setMoves(_ moves: [Move]) {
    let leaving = (removed.map(\.place.index) + moves.map(\.from.index)).sorted()
    let coming = (inserted.map(\.place.index) + moves.map(\.to.index)).sorted()
    var stays: [Move] = []
    for move in moves {
      // How many of the rows that stay where they are come before it.
      let before = move.from.index - leaving.count(below: move.from.index)
      let after = move.to.index - coming.count(below: move.to.index)
      if before == after, move.isInSection {
        stays.append(move)
      } else {
        moved.append(move)
      }
    }
    // Of those between the same two rows, the ones that keep their order.
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
  /// The number of elements of a sorted array that are less than a number.
  fileprivate func count(below number: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The indices of the longest part of different elements that are in ascending order.
  fileprivate func longestIncreasingPart() -> Set<Int> {
    // The index of the least end of a part of each length, and what came before each element.
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

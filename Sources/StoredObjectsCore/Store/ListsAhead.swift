/// The latest lists that were read from records, to predict which one is walked next.
///
/// The owners of lists are often visited in the order in which they were read: a loop over playlists
/// walks the songs of each. Once a loop has gone on from one list to the next, the elements of the
/// following lists are read together with those of its list.
struct ListsAhead {
  private var lists: [[UInt32]] = []
  /// The index of the last list whose elements were requested.
  private var reach: Int?
  /// Whether a loop goes from list to list.
  private var isWalking = false

  /// The number of elements of all lists.
  private var elementCount = 0

  /// The numbers of lists that are remembered, and of their elements, which take 1 MiB.
  private static let (mostLists, mostElements) = (4096, 256 << 10)
  /// The size above which a list is not remembered; it has many elements of its own to read ahead.
  private static let mostElementsOfList = 4096

  /// Remembers that a list was read.
  mutating func note(_ list: [UInt32]) {
    if list.isEmpty || list.count > Self.mostElementsOfList { return }
    if lists.count == Self.mostLists || elementCount + list.count > Self.mostElements {
      forgetHalf()
    }
    lists.append(list)
    elementCount += list.count
  }

  private mutating func forgetHalf() {
    let forgotten = (lists.count + 1) / 2
    elementCount -= lists[..<forgotten].reduce(0) { $0 + $1.count }
    lists.removeFirst(forgotten)
    reach = reach.flatMap { $0 < forgotten ? nil : $0 - forgotten }
  }

  /// Returns the elements of the lists after one that is being walked.
  ///
  /// Complexity: linear in the number of lists that are remembered, and in the result.
  ///
  /// - Parameters:
  ///   - list: The list whose element is requested.
  ///   - count: The maximum number of elements.
  /// - Returns: The elements in order; empty if no loop goes from list to list.
  mutating func rows(after list: [UInt32], atMost count: Int) -> [UInt32] {
    // Equal arrays are mostly the same one, which takes no comparison of elements.
    let place = lists.lastIndex(of: list)
    isWalking =
      if let place, let reach { place == reach + 1 || isWalking && place == reach } else { false }
    reach = place
    var rows: [UInt32] = []
    guard isWalking, let place else { return rows }
    for next in lists[(place + 1)...] {
      if rows.count >= count { break }
      rows += next.prefix(count - rows.count)
      reach = (reach ?? place) + 1
    }
    return rows
  }
}

extension RowSet {
  /// Whether the set has no rows.
  ///
  /// Complexity: as ``first(after:)``.
  package var isEmpty: Bool { !contains(0) && first(after: 0) == nil }

  /// Calls a closure with each row, in ascending order.
  package func forEach<Failure: Error>(
    _ body: (UInt32) throws(Failure) -> Void
  ) throws(Failure) {
    if contains(0) { try body(0) }
    var row: UInt32 = 0
    while let next = first(after: row) {
      try body(next)
      row = next
    }
  }

  /// Removes a row, if it is in the set.
  ///
  /// Complexity: constant time, or linear in the length of the current run if there is one.
  package mutating func remove(_ rowID: UInt32) {
    guard contains(rowID) else { return }
    updatePages { pages in
      let (number, bit) = Self.position(of: rowID)
      pages[number][bit >> 6] &= ~(1 << UInt64(bit & 63))
    }
  }

  /// Adds all rows of another set.
  ///
  /// Complexity: linear in the highest row, 64 rows per step.
  package mutating func formUnion(_ other: RowSet) {
    if isEmpty { return self = other }
    var other = other
    other.updatePages { theirs in
      updatePages { pages in
        while pages.count < theirs.count { pages.append([]) }
        for number in theirs.indices where !theirs[number].isEmpty {
          if pages[number].isEmpty {
            pages[number] = theirs[number]
          } else {
            for word in theirs[number].indices { pages[number][word] |= theirs[number][word] }
          }
        }
      }
    }
  }

  /// Removes all rows of another set.
  ///
  /// Complexity: linear in the highest row, 64 rows per step.
  package mutating func subtract(_ other: RowSet) {
    var other = other
    other.updatePages { theirs in
      updatePages { pages in
        for number in pages.indices.prefix(theirs.count)
        where !pages[number].isEmpty && !theirs[number].isEmpty {
          for word in pages[number].indices { pages[number][word] &= ~theirs[number][word] }
        }
      }
    }
  }
}

import Files

extension KeyRun {
  /// Merges sorted runs, oldest first; for each key the newest change remains.
  ///
  /// Complexity: linear in the number of changes; times the number of runs where their keys
  /// alternate.
  ///
  /// - Parameters:
  ///   - runs: The runs.
  ///   - dropsRemovals: Whether there is nothing below that could be removed.
  ///   - isCounted: Whether the result will be searched; the growth of all runs has been counted
  ///     then.
  convenience init(merging runs: [KeyRun], dropsRemovals: Bool, isCounted: Bool = true) {
    var order = MergeOrder(runs)
    var merged = MergedRun(runs, dropsRemovals: dropsRemovals, isCounted: isCounted)
    while let part = order.next() { merged.add(part, of: runs[part.run]) }
    self.init(merged)
  }

  /// Returns the same run with its own bytes and without counts.
  func compacted() -> KeyRun { KeyRun(merging: [self], dropsRemovals: false, isCounted: false) }

  /// Returns the same run without removals.
  func withoutRemovals() -> KeyRun {
    guard changes.contains(where: \.isRemoval) else { return self }
    return KeyRun(merging: [self], dropsRemovals: true)
  }

  fileprivate convenience init(_ merged: consuming MergedRun) {
    let filter = merged.isCounted ? KeyFilter(merged.changes, merged.bytes) : nil
    self.init(
      bytes: merged.bytes, sorted: merged.changes, growth: merged.growth, filter: filter)
  }
}

/// A run that is being merged.
private struct MergedRun {
  var bytes: [UInt8] = []
  var changes: [KeyRun.Change] = []
  var growth: [Int32]
  let isCounted: Bool
  private let dropsRemovals: Bool
  /// The growth of the table so far.
  private var sum: Int32 = 0

  init(_ runs: [KeyRun], dropsRemovals: Bool, isCounted: Bool) {
    let count = runs.reduce(0) { $0 + $1.count }
    (self.dropsRemovals, self.isCounted) = (dropsRemovals, isCounted)
    growth = isCounted ? [0] : []
    changes.reserveCapacity(count)
    bytes.reserveCapacity(runs.reduce(0) { $0 + $1.byteCount })
    if isCounted { growth.reserveCapacity(count + 1) }
  }

  mutating func add(_ part: MergeOrder.Part, of run: KeyRun) {
    if isCounted { addGrowth(part, of: run) }
    var rest = part.indices
    while !rest.isEmpty {
      if dropsRemovals && run.changes[rest.lowerBound].isRemoval {
        rest.removeFirst()
        continue
      }
      let end = endOfPiece(rest, in: run)
      copy(rest.lowerBound..<end, of: run)
      rest = end..<rest.upperBound
    }
  }

  /// Returns the end of the first changes that are also adjacent in the bytes.
  private func endOfPiece(_ indices: Range<Int>, in run: KeyRun) -> Int {
    let changes = run.changes
    var index = indices.lowerBound
    while true {
      let end = changes[index].value.upperBound
      index += 1
      if index == indices.upperBound || changes[index].start != end { return index }
      if dropsRemovals && changes[index].isRemoval { return index }
    }
  }

  private mutating func copy(_ piece: Range<Int>, of run: KeyRun) {
    let source = run.changes
    let start = source[piece.lowerBound].start
    let shift = bytes.count - start
    let end = source[piece.upperBound - 1].value.upperBound
    run.bytes.lend(start..<end) { bytes.append(copying: $0) }
    changes.append(addingCapacity: piece.count) { target in
      for index in piece { target.append(source[index].moved(by: shift)) }
    }
  }

  private mutating func addGrowth(_ part: MergeOrder.Part, of run: KeyRun) {
    var sum = sum + part.olderGrowth
    let (dropsRemovals, counted, changes) = (dropsRemovals, run.growth, run.changes)
    growth.append(addingCapacity: part.indices.count) { target in
      for index in part.indices {
        sum += counted[index + 1] - counted[index]
        if !(dropsRemovals && changes[index].isRemoval) { target.append(sum) }
      }
    }
    self.sum = sum
  }
}

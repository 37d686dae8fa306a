import Files

/// The pages of level 0 of a file that may have keys of a range, one after the other.
struct OrderedLeaves {
  private let file: OrderedFile
  private let range: KeyRange
  private let isReversed: Bool
  /// The pages on the way to the next one, each with its entries that are left.
  private var path: [Step] = []

  private struct Step {
    var node: OrderedFileFormat.Child
    var level: Int
    var rest: Range<Int>
    /// The number of keys before the page after this one.
    var rankEnd: Int
  }

  init(_ file: OrderedFile, _ range: KeyRange, isReversed: Bool) throws(StoreError) {
    (self.file, self.range, self.isReversed) = (file, range, isReversed)
    if file.footer.depth == 0 || range.isEmpty { return }
    try enter(file.footer.root, Int(file.footer.depth) - 1, rankEnd: file.count)
  }

  /// Calls a closure with the next page that has keys of the range, and with the indices of these.
  ///
  /// - Returns: false at the end.
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func next(
    _ body: (OrderedPage, RawSpan, Range<Int>) throws -> Void
  ) throws(StoreError) -> Bool {
    while let step = path.last {
      if step.level == 0 || step.rest.isEmpty { path.removeLast() }
      if step.rest.isEmpty { continue }
      if step.level == 0 {
        try file.withPage(step.node, level: 0) { page, bytes in try body(page, bytes, step.rest) }
        return true
      }
      try enterNext(of: step)
    }
    return false
  }

  private mutating func enterNext(of step: Step) throws(StoreError) {
    let rest = step.rest
    let index = isReversed ? rest.upperBound - 1 : rest.lowerBound
    path[path.count - 1].rest =
      isReversed ? rest.lowerBound..<index : index + 1..<rest.upperBound
    let (child, end) = try file.withPage(step.node, level: step.level) { page, bytes in
      let end = index + 1 < page.count ? try page.child(index + 1, bytes).rank : step.rankEnd
      return (try page.child(index, bytes), end)
    }
    // The parts must not overlap, so pages that lead to the same page repeatedly are detected.
    guard child.rank >= step.node.rank, child.rank < end, end <= step.rankEnd else {
      throw file.damage("A page has a wrong count of keys", at: child.offset)
    }
    try enter(child, step.level - 1, rankEnd: end)
  }

  private mutating func enter(
    _ node: OrderedFileFormat.Child, _ level: Int, rankEnd: Int
  ) throws(StoreError) {
    let rest = try file.withPage(node, level: level) { page, bytes in
      let first = try range.from.lend { (key) throws(OrderedPage.Damage) in
        try page.bound(key, passingEqual: level > 0, bytes)
      }
      let start = level > 0 ? max(0, first - 1) : first
      let end = try range.to?.lend { (key) throws(OrderedPage.Damage) in
        try page.bound(key, passingEqual: false, bytes)
      }
      return start..<max(start, end ?? page.count)
    }
    path.append(Step(node: node, level: level, rest: rest, rankEnd: rankEnd))
  }
}

import Files

extension OrderedFile {
  /// Calls a closure with the keys of a range and their values, forwards or backwards.
  ///
  /// Complexity: O(log n), and linear in the visited part.
  ///
  /// - Returns: false if the closure has paused.
  package func scan(
    _ range: KeyRange, isReversed: Bool, _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    guard footer.depth > 0, !range.isEmpty else { return true }
    var scan = OrderedFileScan(file: self, range: range, isReversed: isReversed)
    if opened == nil, let isDone = try scan.walkLeaf(body) { return isDone }
    return try scan.walk(
      footer.root, Int(footer.depth) - 1, rankEnd: count, isFirst: true, isLast: true, body)
  }
}

/// A scan in progress.
private struct OrderedFileScan {
  let file: OrderedFile
  private(set) var range: KeyRange
  let isReversed: Bool
  private var key: [UInt8] = []

  init(file: OrderedFile, range: KeyRange, isReversed: Bool) {
    (self.file, self.range, self.isReversed) = (file, range, isReversed)
  }

  /// Scans the part of the range in its first page.
  ///
  /// Most ranges end there. If the range continues in other pages, ``range`` becomes the rest.
  ///
  /// - Returns: false if the closure has paused, true at the end of the range, nil if it continues.
  mutating func walkLeaf(
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool? {
    guard let start = isReversed ? range.to : range.from else { return nil }
    return try file.file.withBytes { (bytes) throws(StoreError) in
      let node = try start.lend { (key) throws(StoreError) in try file.leaf(for: key, bytes) }
      return try walkLeaf(node, bytes.extracting(try file.check(node, bytes)), body)
    }
  }

  private mutating func walkLeaf(
    _ node: OrderedFile.Child, _ bytes: RawSpan,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool? {
    try file.open(bytes, node, 0) { page, bytes in
      let part = try part(of: page, bytes, isFirst: true, isLast: true)
      let goesOn = isReversed ? part.lowerBound == 0 : part.upperBound == page.count
      // Backwards, the end of the rest is not known here.
      if goesOn && isReversed && file.footer.depth > 1 { return nil }
      guard try lend(part, page, bytes, body) else { return false }
      if !goesOn || file.footer.depth == 1 { return true }
      if !part.isEmpty { range.from = key + [0] }
      return nil
    }
  }

  /// Scans a page and those below it; returns false if the closure has paused.
  ///
  /// The first page may have keys before the range, the last page keys after it. The keys of a page
  /// are counted from its rank to an end. These parts must not overlap, so pages that lead to the
  /// same page repeatedly are detected.
  mutating func walk(
    _ node: OrderedFile.Child, _ level: Int, rankEnd: Int, isFirst: Bool, isLast: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try file.withPage(node, level: level) { page, bytes in
      let part = try part(of: page, bytes, isFirst: isFirst, isLast: isLast)
      if level == 0 { return try lend(part, page, bytes, body) }
      for step in 0..<part.count {
        let index = isReversed ? part.upperBound - 1 - step : part.lowerBound + step
        let child = try page.child(index, bytes)
        let end = index + 1 < page.count ? try page.child(index + 1, bytes).rank : rankEnd
        guard child.rank >= node.rank, child.rank < end, end <= rankEnd else {
          throw file.damage("A page has a wrong count of keys", at: child.offset)
        }
        let isDone = try walk(
          child, level - 1, rankEnd: end, isFirst: isFirst && index == part.lowerBound,
          isLast: isLast && index == part.upperBound - 1, body)
        if !isDone { return false }
      }
      return true
    }
  }

  /// Returns the entries of a page that are in the range, or may lead to keys in it.
  private func part(
    of page: OrderedPage, _ bytes: RawSpan, isFirst: Bool, isLast: Bool
  ) throws(OrderedPage.Damage) -> Range<Int> {
    let isLeaf = page.level == 0
    var (start, end) = (0, page.count)
    if isFirst {
      start = try range.from.lend { (key) throws(OrderedPage.Damage) in
        try page.bound(key, passingEqual: !isLeaf, bytes)
      }
      if !isLeaf { start = max(0, start - 1) }
    }
    if isLast, let to = range.to {
      end = try to.lend { (key) throws(OrderedPage.Damage) in
        try page.bound(key, passingEqual: false, bytes)
      }
    }
    return start..<max(start, end)
  }

  private mutating func lend(
    _ part: Range<Int>, _ page: OrderedPage, _ bytes: RawSpan,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws -> Bool {
    if part.isEmpty { return true }
    // Reserves room for most keys, so that memory is allocated once.
    key.reserveCapacity(page.prefix.count + 48)
    key.replaceAll(from: 0, copying: bytes.extracting(page.prefix))
    for step in 0..<part.count {
      let index = isReversed ? part.upperBound - 1 - step : part.lowerBound + step
      let (rest, value) = try page.entry(index, bytes)
      key.replaceAll(from: page.prefix.count, copying: bytes.extracting(rest))
      if try key.lend({ try body($0, bytes.extracting(value)) }) == .pause { return false }
    }
    return true
  }
}

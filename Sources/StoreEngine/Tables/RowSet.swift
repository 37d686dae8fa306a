/// A set of row IDs, one bit each, in pages that exist only where there are rows.
///
/// Consecutive rows are first collected as a run, which is almost free.
@usableFromInline package struct RowSet: Sendable {
  @inlinable static var pageBits: UInt32 { 12 }
  @inlinable static var pageSize: UInt32 { 1 << pageBits }

  @usableFromInline var pages: [[UInt64]] = []
  /// The rows that are not in the pages yet.
  @usableFromInline var run = Run()

  /// A range of rows without a gap.
  @usableFromInline struct Run: Sendable {
    @usableFromInline var first: UInt32 = 0
    @usableFromInline var count: UInt32 = 0

    @inlinable init(first: UInt32 = 0, count: UInt32 = 0) {
      (self.first, self.count) = (first, count)
    }

    @inlinable @inline(__always)
    func contains(_ rowID: UInt32) -> Bool { rowID &- first < count }
  }

  /// Creates an empty set.
  @inlinable package init() {}

  /// Adds a row, and returns whether it is new.
  ///
  /// Complexity: constant time, except when the directory of pages grows.
  @discardableResult
  @inlinable @inline(__always)
  package mutating func insert(_ rowID: UInt32) -> Bool {
    if rowID == run.first &+ run.count, rowID > highest, run.count > 0 {
      run.count += 1
      return true
    }
    return insertElsewhere(rowID)
  }

  /// An upper bound of the rows in the pages.
  @usableFromInline var highest: UInt32 = 0

  @usableFromInline mutating func insertElsewhere(_ rowID: UInt32) -> Bool {
    if contains(rowID) { return false }
    saveRun()
    if rowID > highest {
      run = Run(first: rowID, count: 1)
    } else {
      insertInPage(rowID)
    }
    return true
  }

  /// Moves the run into the pages.
  private mutating func saveRun() {
    guard run.count > 0 else { return }
    for rowID in run.first...run.first + (run.count - 1) { insertInPage(rowID) }
    run.count = 0
  }

  /// Moves all rows into the pages, and changes the pages.
  ///
  /// The closure may add rows up to the end of the last page that exists when it returns.
  mutating func updatePages(_ body: (inout [[UInt64]]) -> Void) {
    saveRun()
    body(&pages)
    let end = UInt64(pages.count) << UInt64(Self.pageBits)
    if end > 0 { highest = max(highest, UInt32(clamping: end - 1)) }
  }

  /// Returns the page number of a row and the index of its bit in the page.
  static func position(of rowID: UInt32) -> (page: Int, bit: Int) {
    (Int(rowID >> pageBits), Int(rowID & (pageSize - 1)))
  }

  private mutating func insertInPage(_ rowID: UInt32) {
    let number = Int(rowID >> Self.pageBits)
    if number >= pages.count {
      pages.append(contentsOf: repeatElement([], count: number + 1 - pages.count))
    }
    if pages[number].isEmpty { pages[number] = Array(repeating: 0, count: Int(Self.pageSize) / 64) }
    let bit = rowID & (Self.pageSize - 1)
    pages[number][Int(bit >> 6)] |= 1 << UInt64(bit & 63)
    highest = max(highest, rowID)
  }

  /// Whether a row is in the set.
  @inlinable package func contains(_ rowID: UInt32) -> Bool {
    if run.contains(rowID) { return true }
    let number = Int(rowID >> Self.pageBits)
    guard number < pages.count, !pages[number].isEmpty else { return false }
    let bit = rowID & (Self.pageSize - 1)
    return pages[number][Int(bit >> 6)] & (1 << UInt64(bit & 63)) != 0
  }

  /// Returns the first row of the set after another, or nil.
  ///
  /// Complexity: linear in the distance, 64 rows per step, or 4,096 where there are none.
  package func first(after rowID: UInt32) -> UInt32? {
    guard rowID < .max else { return nil }
    // All rows of the run are after those of the pages.
    return firstInPages(after: rowID) ?? firstInRun(after: rowID)
  }

  private func firstInRun(after rowID: UInt32) -> UInt32? {
    guard run.count > 0, rowID < run.first + (run.count - 1) else { return nil }
    return max(rowID + 1, run.first)
  }

  private func firstInPages(after rowID: UInt32) -> UInt32? {
    var candidate = UInt64(rowID) + 1
    while Int(candidate >> UInt64(Self.pageBits)) < pages.count {
      let page = pages[Int(candidate >> UInt64(Self.pageBits))]
      let bit = candidate & UInt64(Self.pageSize - 1)
      guard !page.isEmpty else {
        candidate += UInt64(Self.pageSize) - bit
        continue
      }
      let word = page[Int(bit >> 6)] >> (bit & 63)
      if word != 0 { return UInt32(candidate + UInt64(word.trailingZeroBitCount)) }
      candidate += 64 - (bit & 63)
    }
    return nil
  }
}

extension RowSet {
  /// The highest row; nil in an empty set.
  ///
  /// Complexity: as ``first(after:)``.
  package var last: UInt32? {
    if run.count > 0 { return run.first + (run.count - 1) }
    for number in pages.indices.reversed() {
      for (index, word) in pages[number].enumerated().reversed() where word != 0 {
        let bit = index * 64 + 63 - word.leadingZeroBitCount
        return UInt32(number) << Self.pageBits + UInt32(bit)
      }
    }
    return nil
  }

  /// Returns the number of rows up to and including a row, without row 0.
  ///
  /// Complexity: linear in the row, 64 rows per step.
  package func count(upTo rowID: UInt32) -> Int {
    let end = UInt64(rowID) + 1
    var count = contains(0) ? -1 : 0
    for number in pages.indices where !pages[number].isEmpty {
      let start = UInt64(number) << UInt64(Self.pageBits)
      if start >= end { break }
      count += Self.count(pages[number], below: end - start)
    }
    if run.count > 0, rowID >= run.first { count += Int(min(run.count, rowID - run.first + 1)) }
    return count
  }

  /// Returns the number of rows in a page below one of its bits, or in the whole page.
  private static func count(_ page: [UInt64], below end: UInt64) -> Int {
    let whole = min(Int(end >> 6), page.count)
    var count = page[..<whole].reduce(0) { $0 + $1.nonzeroBitCount }
    if whole < page.count { count += (page[whole] & (1 << (end & 63) - 1)).nonzeroBitCount }
    return count
  }

  /// Returns some of the rows after another in ascending order, and skips the first of them.
  ///
  /// Complexity: linear in the number of returned rows and in the highest row, 64 rows per step.
  package func rows(after rowID: UInt32, skipping offset: Int, atMost limit: Int) -> [UInt32] {
    // No set has more rows.
    let skipped = count(upTo: rowID) + min(offset, 1 << 32)
    guard var row = row(behind: skipped) else { return [] }
    var rows: [UInt32] = []
    while rows.count < limit {
      rows.append(row)
      guard let next = first(after: row) else { break }
      row = next
    }
    return rows
  }

  /// Returns the row that has the given number of rows before it, without row 0; nil at the end.
  private func row(behind count: Int) -> UInt32? {
    var rest = contains(0) ? count + 1 : count
    for number in pages.indices where !pages[number].isEmpty {
      for (index, word) in pages[number].enumerated() {
        guard rest < word.nonzeroBitCount else {
          rest -= word.nonzeroBitCount
          continue
        }
        var word = word
        for _ in 0..<rest { word &= word - 1 }
        return UInt32(number) << Self.pageBits + UInt32(index * 64 + word.trailingZeroBitCount)
      }
    }
    return rest < Int(run.count) ? run.first + UInt32(rest) : nil
  }

  @inlinable package init(_ rows: some Sequence<UInt32>) {
    self.init()
    for row in rows { insert(row) }
  }
}

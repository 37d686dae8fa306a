import Files

/// A cursor over the changes in the file of a sorted run, forwards or backwards.
///
/// It copies one page at a time.
struct FileRunCursor: ChangeCursor {
  private let file: OrderedFile
  private let isReversed: Bool
  private var leaves: OrderedLeaves
  /// Copies of the keys and values of the present page, without tags.
  private var bytes: [UInt8] = []
  private var changes: [ChangeSet.KeyChange] = []
  /// The indices of the changes that are left.
  private var rest = 0..<0
  private(set) var head: KeyHead?

  /// Creates a cursor over a range.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  init(_ file: OrderedFile, _ range: KeyRange, isReversed: Bool) throws(StoreError) {
    (self.file, self.isReversed) = (file, isReversed)
    leaves = try OrderedLeaves(file, range, isReversed: isReversed)
    try enterLeaf()
  }

  var isAtEnd: Bool { rest.isEmpty }

  private var index: Int { isReversed ? rest.upperBound - 1 : rest.lowerBound }

  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    isAtEnd ? nil : (bytes, changes[index])
  }

  /// The number of keys by which the next change makes the table larger than it is below.
  var growth: Int {
    if isAtEnd { return 0 }
    let change = changes[index]
    return (change.isRemoval ? 0 : 1) - (change.wasThere == true ? 1 : 0)
  }

  func compareNext(_ key: RawSpan) -> Int? {
    if isAtEnd { return nil }
    let order = bytes.lend(changes[index].key) { $0.compare(key) }
    return isReversed ? -order : order
  }

  mutating func step() throws(StoreError) {
    rest = isReversed ? rest.lowerBound..<index : index + 1..<rest.upperBound
    if rest.isEmpty { return try enterLeaf() }
    readHead()
  }

  private mutating func readHead() {
    head = isAtEnd ? nil : bytes.lend(changes[index].key) { KeyHead($0) }
  }

  /// Reads the next page that has keys of the range.
  private mutating func enterLeaf() throws(StoreError) {
    let last = lastKey
    var (bytes, changes) = (self.bytes, self.changes)
    (self.bytes, self.changes) = ([], [])
    bytes.removeAll(keepingCapacity: true)
    changes.removeAll(keepingCapacity: true)
    // The first page may have only keys outside of the range.
    while changes.isEmpty {
      let isFound = try leaves.next { page, source, part in
        for index in part {
          try Self.copy(page.entry(index, source), of: page, source, &bytes, &changes)
        }
      }
      if !isFound { break }
    }
    (self.bytes, self.changes, rest) = (bytes, changes, 0..<changes.count)
    readHead()
    if let last, last.lend({ compareNext($0) ?? 1 }) <= 0 { throw disorder }
  }

  /// The last key of the present page in the direction of the cursor; nil before the first page.
  private var lastKey: [UInt8]? {
    (isReversed ? changes.first : changes.last).map { Array(bytes[$0.key]) }
  }

  private var disorder: StoreError { file.damage("Keys are not in their order", at: 0) }

  private static func copy(
    _ entry: (key: Range<Int>, value: Range<Int>), of page: OrderedPage, _ source: RawSpan,
    _ bytes: inout [UInt8], _ changes: inout [ChangeSet.KeyChange]
  ) throws(OrderedPage.Damage) {
    let start = bytes.count
    bytes.append(copying: source.extracting(page.prefix))
    bytes.append(copying: source.extracting(entry.key))
    let stored = source.extracting(entry.value)
    let new = try change(start, bytes.count - start, stored, entry.value.lowerBound)
    if let last = changes.last, KeyOrder.compare(last.key, new.key, bytes) >= 0 {
      throw OrderedPage.Damage(offset: entry.key.lowerBound)
    }
    changes.append(new)
    bytes.append(copying: stored.extracting(droppingFirst: 1))
  }

  private static func change(
    _ start: Int, _ keyCount: Int, _ entry: RawSpan, _ offset: Int
  ) throws(OrderedPage.Damage) -> ChangeSet.KeyChange {
    guard let isRemoval = RunEntry.isRemoval(entry), max(keyCount, entry.byteCount) < Int32.max
    else {
      throw OrderedPage.Damage(offset: offset)
    }
    let change =
      isRemoval
      ? ChangeSet.KeyChange(removing: start, keyCount: keyCount)
      : ChangeSet.KeyChange(
        putting: start, keyCount: keyCount, valueCount: entry.byteCount - 1)
    return change.knowing(wasThere: isRemoval || RunEntry.growth(entry) == 0)
  }
}

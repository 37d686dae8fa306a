import Files

/// A cursor over the changes of a tree, forwards or backwards.
struct KeyTreeCursor: ChangeCursor {
  private let branches: [KeyTree.Branch]
  private let isReversed: Bool
  /// The changes that are left.
  private var part: Range<KeyTree.Place>
  /// The leaf of the next change, and the indices of its changes that are left.
  private var items: [KeyTree.Item] = []
  private var indices = 0..<0

  init(_ tree: KeyTree, _ range: KeyRange, isReversed: Bool) {
    (branches, self.isReversed) = (tree.branches, isReversed)
    part = tree.part(in: range)
    enterLeaf()
  }

  var isAtEnd: Bool { indices.isEmpty }

  private var index: Int { isReversed ? indices.upperBound - 1 : indices.lowerBound }

  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    isAtEnd ? nil : (items[index].bytes, items[index].change)
  }

  var head: KeyHead? {
    isAtEnd ? nil : items[index].bytes.lend(items[index].change.key) { KeyHead($0) }
  }

  func compareNext(_ key: RawSpan) -> Int? {
    if isAtEnd { return nil }
    let order = items[index].compare(key)
    return isReversed ? -order : order
  }

  mutating func step() {
    indices =
      isReversed
      ? indices.lowerBound..<indices.upperBound - 1 : indices.lowerBound + 1..<indices.upperBound
    if indices.isEmpty { enterLeaf() }
  }

  /// Goes to the next leaf that has changes in the rest.
  private mutating func enterLeaf() {
    while indices.isEmpty, part.lowerBound < part.upperBound {
      let place = isReversed ? part.upperBound : part.lowerBound
      items = branches[place.branch].leaves[place.leaf].items
      let isFirst = isSameLeaf(place, part.lowerBound)
      let isLast = isSameLeaf(place, part.upperBound)
      let start = isFirst ? part.lowerBound.item : 0
      indices = start..<(isLast ? part.upperBound.item : max(start, items.count))
      leaveOut(place, isWhole: isReversed ? isFirst : isLast)
    }
  }

  /// Removes the leaf of a place from the rest.
  private mutating func leaveOut(_ place: KeyTree.Place, isWhole: Bool) {
    if isWhole {
      part = part.upperBound..<part.upperBound
    } else if isReversed {
      part = part.lowerBound..<end(before: place)
    } else {
      part = start(after: place)..<part.upperBound
    }
  }

  private func isSameLeaf(_ left: KeyTree.Place, _ right: KeyTree.Place) -> Bool {
    left.branch == right.branch && left.leaf == right.leaf
  }

  /// The beginning of the leaf after that of a place.
  private func start(after place: KeyTree.Place) -> KeyTree.Place {
    place.leaf + 1 < branches[place.branch].leaves.count
      ? .init(branch: place.branch, leaf: place.leaf + 1) : .init(branch: place.branch + 1)
  }

  /// The end of the leaf before that of a place.
  private func end(before place: KeyTree.Place) -> KeyTree.Place {
    let branch = place.leaf > 0 ? place.branch : place.branch - 1
    let leaf = place.leaf > 0 ? place.leaf - 1 : branches[branch].leaves.count - 1
    return .init(branch: branch, leaf: leaf, item: branches[branch].leaves[leaf].items.count)
  }
}

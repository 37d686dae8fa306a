import Files

extension KeyTree {
  /// Returns the change of a key; nil if there is none.
  ///
  /// Complexity: O(log n).
  func find(_ key: RawSpan) -> Item? {
    if isEmpty { return nil }
    let (place, isFound) = place(of: key, ShortHead(key))
    return isFound ? self[place] : nil
  }

  subscript(place: Place) -> Item {
    branches[place.branch].leaves[place.leaf].items[place.item]
  }

  /// Returns the place of a key, or that at which it would be inserted.
  func place(of key: RawSpan, _ head: ShortHead) -> (Place, isFound: Bool) {
    if isEmpty { return (Place(), false) }
    let branch = Self.index(in: branches, key, head)
    let leaf = Self.index(in: branches[branch].leaves, key, head)
    let (item, isFound) = Self.index(in: branches[branch].leaves[leaf].items, key, head)
    return (Place(branch: branch, leaf: leaf, item: item), isFound)
  }

  /// Returns the last node whose first key is not after a key; the first one if there is none.
  @inline(__always)
  private static func index<Node: KeyTreeNode>(
    in nodes: [Node], _ key: RawSpan, _ head: ShortHead
  ) -> Int {
    let nodes = nodes.span
    var (low, high) = (1, nodes.count)
    while low < high {
      let middle = (low &+ high) &>> 1
      let isAfter = head.isBefore(nodes[middle].head) ?? (nodes[middle].firstItem.compare(key) > 0)
      if isAfter { high = middle } else { low = middle &+ 1 }
    }
    return low - 1
  }

  /// Returns the index of the first item whose key is not before a key.
  @inline(__always)
  private static func index(
    in items: [Item], _ key: RawSpan, _ head: ShortHead
  ) -> (Int, isFound: Bool) {
    let items = items.span
    var (low, high, isFound) = (0, items.count, false)
    while low < high {
      let middle = (low &+ high) &>> 1
      if let isBefore = items[middle].head.isBefore(head) {
        if isBefore { low = middle &+ 1 } else { high = middle }
        continue
      }
      let order = items[middle].compare(key)
      if order < 0 { low = middle &+ 1 } else { high = middle }
      isFound = isFound || order == 0
    }
    return (low, isFound)
  }

  // MARK: Parts

  /// The places of the changes whose keys are in a range.
  func part(in range: KeyRange) -> Range<Place> {
    let start = range.from.isEmpty ? Place() : range.from.lend { place(of: $0, ShortHead($0)).0 }
    let end = range.to.map { to in to.lend { place(of: $0, ShortHead($0)).0 } } ?? self.end
    return start..<max(start, end)
  }

  /// The place after all changes.
  private var end: Place {
    guard let branch = branches.last, let leaf = branch.leaves.last else { return Place() }
    return Place(
      branch: branches.count - 1, leaf: branch.leaves.count - 1, item: leaf.items.count)
  }

  /// Returns the number of keys by which a range has grown.
  ///
  /// Complexity: O(n / 4,096 + 128).
  func growth(in range: KeyRange) -> Int {
    if isEmpty { return 0 }
    let part = part(in: range)
    let end = range.to == nil ? growth : growth(before: part.upperBound)
    return end - growth(before: part.lowerBound)
  }

  private func growth(before place: Place) -> Int {
    if place == Place() { return 0 }
    let leaves = branches[place.branch].leaves
    return branches[..<place.branch].reduce(0) { $0 + $1.growth }
      + leaves[..<place.leaf].reduce(0) { $0 + $1.growth }
      + leaves[place.leaf].items[..<place.item].reduce(0) { $0 + $1.growth }
  }

  /// Calls a closure with all changes, in order.
  func forEach<Failure: Error>(_ body: (Item) throws(Failure) -> Void) throws(Failure) {
    for branch in branches {
      for leaf in branch.leaves { for item in leaf.items { try body(item) } }
    }
  }

  /// The first key that has changed; nil if there are no changes.
  var firstKey: [UInt8]? {
    if isEmpty { return nil }
    let first = self[Place()]
    return Array(first.bytes[first.change.key])
  }

  /// Whether keys were removed.
  var hasRemovals: Bool {
    branches.contains { $0.leaves.contains { $0.items.contains { $0.change.isRemoval } } }
  }

  /// Returns the changes as a run, with their growth counted and with bytes of its own.
  ///
  /// Complexity: linear in the changes and their bytes.
  func run() -> KeyRun {
    var (bytes, changes, growth) = ([UInt8](), [Change](), [Int32(0)])
    forEach { item in
      let part = item.change.start..<item.change.value.upperBound
      changes.append(item.change.moved(by: bytes.count - part.lowerBound))
      growth.append((growth.last ?? 0) + Int32(item.growth))
      item.bytes.lend(part) { bytes.append(copying: $0) }
    }
    return KeyRun(
      bytes: bytes, sorted: changes, growth: growth, filter: KeyFilter(changes, bytes))
  }
}

/// A node with others below it.
private protocol KeyTreeNode {
  var head: ShortHead { get }
  var firstItem: KeyTree.Item { get }
}

extension KeyTree.Leaf: KeyTreeNode {
  fileprivate var firstItem: KeyTree.Item { items[0] }
}

extension KeyTree.Branch: KeyTreeNode {
  fileprivate var firstItem: KeyTree.Item { leaves[0].items[0] }
}

import Files

/// Changes of a table's keys in ascending order, each key once, to which saves add a few at a time.
///
///     tree      branches, in order
///     branch    up to 64 leaves
///     leaf      up to 64 changes
///
/// A change refers to the bytes of its save, which are not copied. Copies of a tree share its
/// arrays: while a reader holds one, a save copies the leaf and the branch that it changes, and
/// otherwise it changes them in place.
///
/// The tree knows of each key whether it exists below, that is, in older changes or in the file. So
/// a key that was added and is removed again leaves no trace, and the growth of a range is counted.
struct KeyTree: Sendable {
  typealias Change = ChangeSet.KeyChange

  /// A change, with the bytes of its save.
  struct Item {
    let head: ShortHead
    let bytes: [UInt8]
    /// The change; `wasThere` means here that the key exists below the tree.
    let change: Change

    /// The number of keys by which the change makes the table larger than it is below.
    var growth: Int { (change.isRemoval ? 0 : 1) - (existsBelow ? 1 : 0) }
    var existsBelow: Bool { change.wasThere ?? false }

    func compare(_ key: RawSpan) -> Int { bytes.lend(change.key) { $0.compare(key) } }
  }

  struct Leaf {
    private(set) var items: [Item]
    private(set) var growth: Int
    /// The head of the first key.
    private(set) var head: ShortHead

    fileprivate init(_ items: [Item]) {
      self.items = items
      growth = items.reduce(0) { $0 + $1.growth }
      head = items.first?.head ?? ShortHead()
    }
  }

  struct Branch {
    fileprivate(set) var leaves: [Leaf]
    fileprivate(set) var growth: Int
    /// The head of the first key.
    fileprivate(set) var head: ShortHead

    fileprivate init(_ leaves: [Leaf]) {
      self.leaves = leaves
      growth = leaves.reduce(0) { $0 + $1.growth }
      head = leaves.first?.head ?? ShortHead()
    }
  }

  /// The position of a change: at the end of its leaf for a key that comes after all of the leaf.
  struct Place: Comparable {
    var branch = 0
    var leaf = 0
    var item = 0

    static func < (left: Place, right: Place) -> Bool {
      (left.branch, left.leaf, left.item) < (right.branch, right.leaf, right.item)
    }
  }

  /// The maximum number of changes of a leaf, and of leaves of a branch.
  static let limit = 64

  private(set) var branches: [Branch] = []
  /// The number of keys by which the changes make the table larger than it is below.
  private(set) var growth = 0

  var isEmpty: Bool { branches.isEmpty }

  /// Creates a tree without changes.
  init() {}

  /// Creates a tree of the last change of each key in sorted runs, oldest first.
  ///
  /// Removals of keys that don't exist below are left out.
  ///
  /// Complexity: as ``MergeOrder``, and a call of the closure for each key.
  ///
  /// - Parameters:
  ///   - runs: The runs.
  ///   - existsBelow: Returns whether a key exists below; called in the order of the keys.
  /// - Throws: An error of the closure.
  init<Failure: Error>(
    _ runs: [KeyRun], existsBelow: (RawSpan) throws(Failure) -> Bool
  ) throws(Failure) {
    var items: [Item] = []
    items.reserveCapacity(runs.reduce(0) { $0 + $1.count })
    var order = MergeOrder(runs)
    while let part = order.next() {
      let bytes = runs[part.run].bytes
      for change in runs[part.run].changes[part.indices] {
        let (head, exists) = try bytes.lend(change.key) { (key) throws(Failure) in
          (ShortHead(key), try existsBelow(key))
        }
        if change.isRemoval, !exists { continue }
        items.append(Item(head: head, bytes: bytes, change: change.knowing(wasThere: exists)))
      }
    }
    branches = Self.parts(of: Self.parts(of: items).map { Leaf(Array($0)) }).map {
      Branch(Array($0))
    }
    growth = branches.reduce(0) { $0 + $1.growth }
  }

  /// Returns the parts of an array that fill nodes, in order.
  private static func parts<Element>(of elements: [Element]) -> [ArraySlice<Element>] {
    stride(from: 0, to: elements.count, by: limit).map {
      elements[$0..<min($0 + limit, elements.count)]
    }
  }

  // MARK: Changing

  /// Adds the change of a key, and replaces an earlier one.
  ///
  /// Complexity: O(log n).
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - bytes: The bytes of its save.
  ///   - existsBelow: Returns whether the key exists below the tree; called only if the tree does
  ///     not know it.
  mutating func set(_ change: Change, _ bytes: [UInt8], existsBelow: () -> Bool) {
    let head = bytes.lend(change.key) { ShortHead($0) }
    let (place, isFound) = bytes.lend(change.key) { self.place(of: $0, head) }
    let old = isFound ? self[place] : nil
    let exists = old?.existsBelow ?? existsBelow()
    let isKept = exists || !change.isRemoval
    if old == nil, !isKept { return }
    let known = change.knowing(wasThere: exists)
    let new = isKept ? Item(head: head, bytes: bytes, change: known) : nil
    let difference = (new?.growth ?? 0) - (old?.growth ?? 0)
    growth += difference
    if old == nil, let new {
      insert(new, at: place, difference)
    } else {
      branches.replace(new, at: place, difference)
    }
  }

  private mutating func insert(_ item: Item, at place: Place, _ difference: Int) {
    if branches.isEmpty { return branches = [Branch([Leaf([item])])] }
    guard let leaf = branches[place.branch].insert(item, at: place, difference) else { return }
    guard let branch = branches[place.branch].insert(leaf, at: place.leaf + 1) else { return }
    branches.insert(branch, at: place.branch + 1)
  }
}

extension [KeyTree.Branch] {
  /// Replaces an item by another one of its key, or removes it and what is empty then.
  fileprivate mutating func replace(
    _ item: KeyTree.Item?, at place: KeyTree.Place, _ difference: Int
  ) {
    self[place.branch].replace(item, at: place, difference)
    if self[place.branch].leaves.isEmpty { remove(at: place.branch) }
  }
}

extension KeyTree.Branch {
  /// Inserts an item; returns a new leaf, to be inserted, if the item's leaf was full.
  fileprivate mutating func insert(
    _ item: KeyTree.Item, at place: KeyTree.Place, _ difference: Int
  ) -> KeyTree.Leaf? {
    let new = leaves[place.leaf].insert(item, at: place.item, difference)
    growth += difference - (new?.growth ?? 0)
    head = leaves[0].head
    return new
  }

  /// Inserts a leaf; returns a new branch if this one was full.
  fileprivate mutating func insert(_ leaf: KeyTree.Leaf, at index: Int) -> KeyTree.Branch? {
    if leaves.count < KeyTree.limit {
      leaves.insert(leaf, at: index)
      growth += leaf.growth
      return nil
    }
    // Keys that grow from save to save leave full branches behind.
    if index == leaves.count { return KeyTree.Branch([leaf]) }
    leaves.insert(leaf, at: index)
    let rest = KeyTree.Branch(Array(leaves[(leaves.count / 2)...]))
    self = KeyTree.Branch(Array(leaves[..<(leaves.count / 2)]))
    return rest
  }

  fileprivate mutating func replace(
    _ item: KeyTree.Item?, at place: KeyTree.Place, _ difference: Int
  ) {
    growth += difference
    leaves[place.leaf].replace(item, at: place.item, difference)
    if leaves[place.leaf].items.isEmpty { leaves.remove(at: place.leaf) }
    if let first = leaves.first { head = first.head }
  }
}

extension KeyTree.Leaf {
  /// Inserts an item; returns a new leaf if this one was full.
  fileprivate mutating func insert(
    _ item: KeyTree.Item, at index: Int, _ difference: Int
  ) -> KeyTree.Leaf? {
    if items.count < KeyTree.limit {
      items.insert(item, at: index)
      growth += difference
      if index == 0 { head = item.head }
      return nil
    }
    // As for branches.
    if index == items.count { return KeyTree.Leaf([item]) }
    items.insert(item, at: index)
    let rest = KeyTree.Leaf(Array(items[(items.count / 2)...]))
    self = KeyTree.Leaf(Array(items[..<(items.count / 2)]))
    return rest
  }

  fileprivate mutating func replace(_ item: KeyTree.Item?, at index: Int, _ difference: Int) {
    growth += difference
    if let item {
      items[index] = item
    } else {
      items.remove(at: index)
      if index == 0, let first = items.first { head = first.head }
    }
  }
}

/// The first 16 bytes of a key, with zeros behind a shorter one.
struct ShortHead: Equatable {
  private let first: UInt64
  private let second: UInt64

  init() { (first, second) = (0, 0) }

  init(_ key: RawSpan) {
    first = key.head
    second = key.byteCount > 8 ? key.head(at: 8, count: key.byteCount - 8) : 0
  }

  /// Returns whether the key comes before another one; nil if the heads do not tell.
  @inline(__always)
  func isBefore(_ other: ShortHead) -> Bool? {
    if first != other.first { return first < other.first }
    return second == other.second ? nil : second < other.second
  }
}

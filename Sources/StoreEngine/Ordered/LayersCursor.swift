import Files

/// A cursor over several layers of changes, forwards or backwards.
///
/// For several changes of a key it returns that of the newest layer.
struct LayersCursor: ChangeCursor {
  /// A cursor over runs, or over a tree; each is changed in place.
  private struct Layer {
    private var runs: KeyRunsCursor?
    private var tree: KeyTreeCursor?
    /// The beginning of the next change's key; nil at the end.
    private(set) var head: KeyHead?

    init(runs: KeyRunsCursor) { (self.runs, head) = (runs, runs.head) }
    init(tree: KeyTreeCursor) { (self.tree, head) = (tree, tree.head) }

    var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? {
      runs == nil ? tree?.next : runs?.next
    }

    func compareNext(_ key: RawSpan) -> Int? {
      runs == nil ? tree?.compareNext(key) : runs?.compareNext(key)
    }

    mutating func step() {
      runs?.step()
      tree?.step()
      head = runs == nil ? tree?.head : runs?.head
    }
  }

  private let isReversed: Bool
  /// The layers, oldest first.
  private var layers: [Layer] = []
  /// The layer of the next change; nil at the end.
  private var first: Int?

  /// Creates a cursor over a range of layers, oldest first.
  init(_ changes: [KeyChanges], _ range: KeyRange, isReversed: Bool) {
    self.isReversed = isReversed
    for one in changes {
      if !one.runs.isEmpty {
        layers.append(Layer(runs: KeyRunsCursor(one.runs.runs, range, isReversed: isReversed)))
      }
      if !one.tree.isEmpty {
        layers.append(Layer(tree: KeyTreeCursor(one.tree, range, isReversed: isReversed)))
      }
    }
    findFirst()
  }

  var isAtEnd: Bool { first == nil }

  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? { first.flatMap { layers[$0].next } }

  var head: KeyHead? { first.flatMap { layers[$0].head } }

  func compareNext(_ key: RawSpan) -> Int? { first.flatMap { layers[$0].compareNext(key) } }

  mutating func step() {
    guard let first else { return }
    for layer in layers.indices where layer != first && order(layer, first) == 0 {
      layers[layer].step()
    }
    layers[first].step()
    findFirst()
  }

  private mutating func findFirst() {
    first = nil
    for layer in layers.indices where layers[layer].head != nil {
      if first.map({ order(layer, $0) <= 0 }) ?? true { first = layer }
    }
  }

  /// Compares the keys of two layers' next changes: below zero if the first layer's comes first.
  private func order(_ layer: Int, _ other: Int) -> Int {
    guard let head = layers[layer].head, let otherHead = layers[other].head else { return 1 }
    if let order = head.compare(otherHead) { return isReversed ? -order : order }
    guard let (bytes, change) = layers[other].next else { return 1 }
    return bytes.lend(change.key) { layers[layer].compareNext($0) } ?? 1
  }
}

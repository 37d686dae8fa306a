import Files

/// A cursor over several layers of changes, forwards or backwards.
///
/// For several changes of a key it returns that of the newest layer.
struct LayersCursor: ChangeCursor {
  /// A cursor over runs, a tree, or a run in a file; each is changed in place.
  private struct Layer {
    private var runs: KeyRunsCursor?
    private var tree: KeyTreeCursor?
    private(set) var file: FileRunCursor?
    /// The beginning of the next change's key; nil at the end.
    private(set) var head: KeyHead?

    init(runs: KeyRunsCursor) { (self.runs, head) = (runs, runs.head) }
    init(tree: KeyTreeCursor) { (self.tree, head) = (tree, tree.head) }
    init(file: FileRunCursor) { (self.file, head) = (file, file.head) }

    var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? {
      if file != nil { return file?.next }
      return runs == nil ? tree?.next : runs?.next
    }

    func compareNext(_ key: RawSpan) -> Int? {
      if file != nil { return file?.compareNext(key) }
      return runs == nil ? tree?.compareNext(key) : runs?.compareNext(key)
    }

    mutating func step() throws(StoreError) {
      try file?.step()
      runs?.step()
      tree?.step()
      head = file?.head ?? runs?.head ?? tree?.head
    }
  }

  private let isReversed: Bool
  /// The layers, oldest first.
  private var layers: [Layer] = []
  /// The layer of the next change; nil at the end.
  private var first: Int?

  /// Creates a cursor over a range of layers, oldest first.
  ///
  /// - Parameters:
  ///   - files: Cursors over the same range of runs in files, older than the other layers.
  ///   - changes: The layers in memory.
  ///   - range: The range of keys.
  ///   - isReversed: Whether the cursor goes backwards.
  init(
    files: [FileRunCursor] = [], _ changes: [KeyChanges], _ range: KeyRange, isReversed: Bool
  ) {
    self.isReversed = isReversed
    layers = files.filter { !$0.isAtEnd }.map { Layer(file: $0) }
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

  /// The number of keys by which the next change makes the table larger than it is below all layers,
  /// which are runs in files.
  var growth: Int {
    guard let first else { return 0 }
    return layers.indices.reduce(0) { sum, layer in
      layer == first || order(layer, first) == 0 ? sum + (layers[layer].file?.growth ?? 0) : sum
    }
  }

  mutating func step() throws(StoreError) {
    guard let first else { return }
    for layer in layers.indices where layer != first && order(layer, first) == 0 {
      try layers[layer].step()
    }
    try layers[first].step()
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

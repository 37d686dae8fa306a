import Files

/// Changes of a table's keys: runs of large saves, and small saves after them.
struct KeyChanges: Sendable {
  var runs = KeyRuns()
  var tree = KeyTree()

  var isEmpty: Bool { runs.isEmpty && tree.isEmpty }

  /// Returns the last change of a key, and the bytes that contain it; nil if there is none.
  @inline(__always)
  func find(
    _ key: RawSpan, _ hash: UInt64? = nil
  ) -> (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    if let item = tree.find(key) { return (item.bytes, item.change) }
    return runs.find(key, hash)
  }

  /// Returns the number of keys by which a range has grown.
  func growth(in range: KeyRange) -> Int { runs.growth(in: range) + tree.growth(in: range) }

  /// Makes a run of the small saves, so that a large one can follow them.
  mutating func closeTree() {
    if tree.isEmpty { return }
    runs.append(tree.run())
    tree = KeyTree()
  }
}

/// The changes of a table that are being folded; a class, so that readers copy one reference.
final class FoldingKeys: Sendable {
  let changes: KeyChanges
  /// Whether the changes replace the file.
  let isCleared: Bool

  init(_ changes: KeyChanges, isCleared: Bool) {
    (self.changes, self.isCleared) = (changes, isCleared)
  }
}

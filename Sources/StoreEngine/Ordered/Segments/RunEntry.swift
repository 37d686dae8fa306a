import Files

/// An entry of a sorted run: the change of a key.
///
///     tag (1) | value
///
/// The tag is 1 for a new key with its value, 3 for another value of a key that exists below, and 2
/// for the removal of a key. A removed key exists below, because a run has no other removals. *Below*
/// are the older runs and the parts of the table.
enum RunEntry {
  private static let put: UInt8 = 1
  private static let existsBelow: UInt8 = 2

  /// Returns the tag of a change that makes the table larger by a number of keys.
  static func tag(isRemoval: Bool, growth: Int) -> UInt8 {
    isRemoval ? existsBelow : growth > 0 ? put : put | existsBelow
  }

  /// Returns whether the entry removes its key; nil if it is not valid.
  @inline(__always)
  static func isRemoval(_ entry: RawSpan) -> Bool? {
    guard entry.byteCount > 0 else { return nil }
    let tag = entry.loadByte(at: 0)
    if tag == existsBelow { return entry.byteCount == 1 ? true : nil }
    return tag & put != 0 && tag <= put | existsBelow ? false : nil
  }

  /// Returns the number of keys by which a valid entry makes the table larger.
  static func growth(_ entry: RawSpan) -> Int {
    let tag = entry.loadByte(at: 0)
    return Int(tag & put) - Int(tag & existsBelow) / 2
  }
}

extension OrderedFileWriter {
  /// Appends the change of a key to a run.
  ///
  /// A removal of a key that does not exist below is left out.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - bytes: The bytes that contain it.
  ///   - growth: The number of keys by which it makes the table larger than it is below.
  ///   - entry: Memory for the entry, which is used again for the next one.
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  mutating func append(
    _ change: ChangeSet.KeyChange, _ bytes: [UInt8], growth: Int, _ entry: inout [UInt8]
  ) throws(StoreError) {
    if change.isRemoval, growth >= 0 { return }
    entry.removeAll(keepingCapacity: true)
    entry.append(RunEntry.tag(isRemoval: change.isRemoval, growth: growth))
    bytes.lend(change.value) { entry.append(copying: $0) }
    try bytes.lend(change.key) { (key) throws(StoreError) in
      try entry.lend { (entry) throws(StoreError) in
        try append(key, entry: entry, growth: growth)
      }
    }
  }

  /// Appends all changes of a table to a run, with their growth counted.
  ///
  /// Complexity: linear in the changes and their bytes.
  mutating func append(_ changes: KeyChanges) throws(StoreError) {
    var entry: [UInt8] = []
    if changes.runs.isEmpty {
      return try changes.tree.forEach { (item) throws(StoreError) in
        try append(item.change, item.bytes, growth: item.growth, &entry)
      }
    }
    var runs = changes
    runs.closeTree()
    var order = MergeOrder(runs.runs.runs)
    while let part = order.next() {
      let run = order.runs[part.run]
      var older = Int(part.olderGrowth)
      for index in part.indices {
        let growth = run.growth(in: index..<index + 1) + older
        try append(run.changes[index], run.bytes, growth: growth, &entry)
        older = 0
      }
    }
  }
}

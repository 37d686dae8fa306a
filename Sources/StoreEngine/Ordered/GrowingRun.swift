import Files

/// A sorted run that grows by one new key at a time, each above the one before it.
///
/// A history grows in this way with each commit. Adding a key copies its bytes behind those of the
/// other keys, which costs much less than a run for each of them.
struct GrowingRun: Sendable {
  private var bytes: [UInt8] = []
  private var changes: [ChangeSet.KeyChange] = []

  /// The number of keys from which the run is full, and that of their bytes.
  ///
  /// It is copied once for each snapshot that is taken while it grows.
  static let (limit, byteLimit) = (1024, 1 << 18)

  var count: Int { changes.count }
  var isFull: Bool { count >= Self.limit || bytes.count >= Self.byteLimit }

  /// Whether a key is above all keys of the run.
  func isBelow(_ new: [UInt8], keyCount: Int) -> Bool {
    guard let last = changes.last else { return true }
    return new.lend(0..<keyCount) { key in bytes.lend(last.key) { key.compare($0) > 0 } }
  }

  /// Appends a key, which the table does not contain, and the value that follows its bytes.
  mutating func append(_ new: [UInt8], keyCount: Int) {
    changes.append(
      ChangeSet.KeyChange(
        puttingNew: bytes.count, keyCount: keyCount, valueCount: new.count - keyCount))
    new.lend { bytes.append(copying: $0) }
  }

  /// Returns the run with its growth counted.
  func run() -> KeyRun {
    KeyRun(
      bytes: bytes, sorted: changes, growth: Array(0...Int32(count)),
      filter: KeyFilter(changes, bytes))
  }
}

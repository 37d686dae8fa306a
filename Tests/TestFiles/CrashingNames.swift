import Files

/// The names in a directory of a ``CrashingDirectory``: live and durable, with their inodes.
struct CrashingNames: Sendable {
  /// Keeps the directory open, so that its inode is not reused.
  private let handle: DirectoryHandle
  private(set) var live: [String: UInt64] = [:]
  private var durable: [String: UInt64] = [:]
  /// The changes since the last sync, each of which is atomic.
  private var changes: [[String: UInt64?]] = []

  init(_ handle: DirectoryHandle) { self.handle = handle }

  /// Records all current names.
  mutating func note(_ found: [String: UInt64]) {
    var change: [String: UInt64?] = [:]
    for name in Set(live.keys).union(found.keys) where live[name] != found[name] {
      change.updateValue(found[name], forKey: name)
    }
    if !change.isEmpty { changes.append(change) }
    live = found
  }

  mutating func synchronize() { (durable, changes) = (live, []) }

  func afterPowerCut(using generator: inout some RandomNumberGenerator) -> [String: UInt64] {
    var names = durable
    // A directory keeps its changes in order, but may lose any of them.
    for change in changes where Bool.random(using: &generator) {
      for (name, inode) in change { names[name] = inode }
    }
    return names
  }
}

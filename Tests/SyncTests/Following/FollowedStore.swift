import Foundation
import Locks
import StoreEngine
import StoredObjectsCore
import StoredObjectsSync
import StoredObjectsTestSupport
import Testing

/// A store in memory with a history, for followers over HTTP.
final class FollowedStore: Sendable {
  let backend: any StoreBackend
  private let seed: UInt64
  private let number = Locked(0)

  init(seed: UInt64, saves: Int = 5) throws {
    (backend, self.seed) = (try MemoryBackend(), seed)
    try save()
    try backend.beginHistory()
    for _ in 1..<saves { try save() }
  }

  /// Commits the next scripted save.
  func save() throws {
    let next = number.withLock { number in
      number += 1
      return number
    }
    try ScriptedSave(next, seed: seed, largeByteCount: 3000).commit(to: backend)
  }

  /// Commits a record of a size.
  func save(byteCount: Int) throws {
    let table = try backend.table(named: "Song")
    let row = UInt32(500_000 + backend.lastCommitNumber)
    try backend.commit { changes in
      changes.insert(row, in: table, [UInt8](repeating: 7, count: byteCount))
    }
  }
}

/// Checks that a copy has the same bytes and the same commits as its source, each once.
func expectCopy(
  _ copy: any StoreBackend, of source: any StoreBackend,
  location: SourceLocation = #_sourceLocation
) throws {
  let (found, expected) = (try image(of: copy), try image(of: source))
  #expect(found.differences(from: expected) == [], sourceLocation: location)
  #expect(try commits(of: copy) == commits(of: source), sourceLocation: location)
}

/// Returns the content of a store without its position as a follower, and without the consumers of
/// its history.
private func image(of backend: any StoreBackend) throws -> StoreImage {
  var image = try StoreImage(of: backend)
  for name in try backend.knownHistoryConsumers().keys {
    image.set([2] + name.utf8, to: nil, in: OrderedTableName("CommitHistory", kind: .data))
  }
  image.set([0], to: nil, in: OrderedTableName("Following", kind: .data))
  return image
}

private func commits(of backend: any StoreBackend) throws -> [Commit] {
  var commits: [Commit] = []
  try backend.forEachHistoryEntry(after: try backend.historyStart() ?? 0) { entry in
    commits.append(entry.commit)
    return .next
  }
  return commits
}

/// Waits until a condition holds; returns false after a generous time.
///
/// It also looks many times, because other tests of this process may keep tasks from running.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  let start = ContinuousClock.now
  var count = 0
  while count < 300 || .now - start < .seconds(30) {
    if try condition() { return true }
    count += 1
    try await Task.sleep(for: .milliseconds(2))
  }
  return false
}

extension HistoryServerLimits {
  /// Limits without an effect of the clock, because other tests may keep tasks from running.
  static var timeless: HistoryServerLimits {
    var limits = HistoryServerLimits()
    (limits.stall, limits.duration) = (.seconds(100_000), .seconds(100_000))
    return limits
  }
}

import CDBBackend
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("Histories of commits that are written together")
struct GroupHistoryTests {
  /// Commits on their way to the log, and what their entries should contain.
  private struct Batch {
    var commits: [QueuedCommit] = []
    var rows: [[UInt32]] = []

    mutating func add(_ changes: ChangeSet, rows: [UInt32]) {
      let request = CommitRequest()
      let commit = request.commit(number: 0, token: CommitToken(high: 1, low: 2))
      commits.append(QueuedCommit(changes, sealed: nil, request, commit, encoded: nil))
      self.rows.append(rows)
    }
  }

  private func batch(
    _ backend: CDBBackend, _ next: inout UInt32, _ generator: inout SeededGenerator
  ) throws -> Batch {
    var batch = Batch()
    for _ in 0..<Int.random(in: 1...9, using: &generator) {
      if Int.random(in: 0..<4, using: &generator) == 0 {
        // A consumer of the history, whose key is in the table of the entries.
        var changes = ChangeSet()
        let history = try backend.orderedTable(HistoryFormat.table)
        let name = ["A", "B"].randomElement(using: &generator) ?? "A"
        changes.set(
          HistoryFormat.key(ofConsumer: name),
          to: HistoryFormat.encoded(HistoryConsumer(number: 1, endMicroseconds: nil)), in: history)
        batch.add(changes, rows: [])
      } else {
        var changes = ChangeSetBuilder()
        let count = Int.random(in: 0..<30, using: &generator) == 0 ? 3_000 : 40
        changes.insert(
          next, in: try backend.table(named: "Song"), [UInt8](repeating: 7, count: count))
        batch.add(changes.changeSet, rows: [next])
        next += 1
      }
    }
    return batch
  }

  private func check(_ backend: CDBBackend, _ rows: [[UInt32]], after start: UInt64) throws {
    var (found, numbers) = ([[UInt32]](), [UInt64]())
    try backend.forEachCommit(after: start) { entry in
      found.append(entry.tables.flatMap(\.records).map(\.rowID))
      numbers.append(entry.commit.number - start)
      return .next
    }
    let isSame = found == rows && numbers == rows.indices.map { UInt64($0 + 1) }
    #expect(isSame, "\(found.count) entries of \(rows.count) commits")
  }

  @Test("Each commit of a batch has its entry, also around commits that change the history")
  func batches() throws {
    var generator = Seeds.generator(for: "histories of batches")
    let disk = try CrashingDirectory()
    let limits = CheckpointLimits(logBytes: 6_000, filePart: 1_000, bulkBytes: 2_500)
    var backend = try CDBBackend(disk, limits: limits)
    try backend.beginHistory()
    let start = backend.lastCommitNumber
    var (rows, next) = ([[UInt32]](), UInt32(2))
    for round in 0..<60 {
      let batch = try batch(backend, &next, &generator)
      for outcome in backend.write(batch.commits, {}) { _ = try outcome.get() }
      rows += batch.rows
      if round % 7 == 0 { try check(backend, rows, after: start) }
      guard round % 13 == 0 else { continue }
      try backend.close()
      backend = try CDBBackend(disk, limits: limits)
    }
    try check(backend, rows, after: start)
  }
}

import CDBBackend
import Foundation
import Locks
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("Commits of several threads")
struct GroupCommitTests {
  private static let limits = {
    var limits = CheckpointLimits(logBytes: 3000, filePart: 1000, bulkBytes: 1500)
    limits.logGrowth = 8 << 10
    return limits
  }()

  /// A commit of a row of its own, whose record says which it is, and of a key.
  private static func changes(_ row: UInt32, _ backend: CDBBackend) throws -> ChangeSet {
    let table = try backend.table(named: "Song")
    let index = try backend.orderedTable(ScriptedSave.index)
    var changes = ChangeSetBuilder()
    // Some are large, and go past the log.
    changes.insert(
      row, in: table, [UInt8](repeating: UInt8(row), count: row % 11 == 0 ? 2000 : 40))
    var set = changes.changeSet
    set.set([UInt8(row)], to: [1], in: index)
    return set
  }

  /// Runs closures on threads of their own, all at once.
  private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).compactMap { number in JoinedThread { body(number) } }
    withExtendedLifetime(threads) {}
  }

  private static func wait(for condition: () -> Bool) {
    let end = Date() + 60
    while !condition(), Date() < end { Thread.sleep(forTimeInterval: 0.001) }
  }

  @Test(
    "Commits that arrive during a sync share the next one, and are visible after it")
  func sharedSync() throws {
    let disk = try CrashingDirectory()
    let backend = try CDBBackend(disk)
    try backend.commit(Self.changes(2, backend))
    let (isOpen, hasArrived) = (SharedLock(false), SharedLock(false))
    disk.observeSyncs {
      hasArrived.change { $0 = true }
      isOpen.change(once: { $0 }) { _ in }
    }
    disk.plan(.none)
    var threads = [JoinedThread { _ = try? backend.commit(Self.changes(3, backend)) }]
    hasArrived.change(once: { $0 }) { _ in }
    for row in UInt32(4)..<20 {
      threads.append(JoinedThread { _ = try? backend.commit(Self.changes(row, backend)) })
    }
    Self.wait { backend.queue.waitingCount == 16 }
    #expect(backend.queue.waitingCount == 16)
    let table = try backend.table(named: "Song")
    #expect(try backend.recordCount(in: table) == 1 && backend.lastCommitNumber == 1)
    #expect(try backend.withRecord(3, in: table) { _ in true } == nil)
    #expect(try backend.changes(since: 1).tables.isEmpty)
    isOpen.change { $0 = true }
    threads.removeAll()
    #expect(try backend.recordCount(in: table) == 18 && backend.lastCommitNumber == 18)
    #expect(disk.syncCount == 2)
    #expect(try backend.changes(since: 1).tables[0].written == Array(3..<20))
    var random = Seeds.generator(for: "GroupCommitTests sync")
    let rebooted = try disk.afterPowerCut(using: &random)
    let again = try CDBBackend(rebooted)
    #expect(try again.recordCount(in: again.table(named: "Song")) == 18)
    #expect(again.lastCommitNumber == 18)
  }

  /// The results of the commits of threads.
  private struct Told: Sendable {
    var done: [UInt32: Commit] = [:]
    var refused: [UInt32] = []
  }

  /// Commits by several threads until all have failed or are through.
  private func commit(_ backend: CDBBackend) throws -> Told {
    let told = SharedLock(Told())
    Self.onThreads(4) { thread in
      for round in 0..<6 {
        let row = UInt32(2 + thread * 6 + round)
        do {
          let commit = try backend.commit(Self.changes(row, backend))
          told.withLock { $0.done[row] = commit }
        } catch let error as StoreError where error.code != .reopenNeeded {
          told.withLock { $0.refused.append(row) }
        } catch {}
      }
    }
    return told.withLock { $0 }
  }

  private func check(_ backend: CDBBackend, _ told: Told, _ moment: String) throws {
    let table = try backend.table(named: "Song")
    let index = try backend.orderedTable(ScriptedSave.index)
    let rows = try Set(backend.records(in: table).keys)
    #expect(rows.isSuperset(of: told.done.keys), "\(moment): an acknowledged commit is lost")
    #expect(rows.isDisjoint(with: told.refused), "\(moment): a refused commit is there")
    #expect(UInt64(rows.count) == backend.lastCommitNumber, "\(moment): numbers have gaps")
    #expect(try backend.keyCount(in: index, KeyRange()) == rows.count, "\(moment)")
    #expect(Set(told.done.values.map(\.number)).count == told.done.count, "\(moment)")
    // The next commit has the next number.
    let last = backend.lastCommitNumber
    #expect(try backend.commit(Self.changes(200, backend))?.number == last + 1, "\(moment)")
  }

  @Test("A power cut keeps acknowledged commits, and complete ones of the rest, without a gap")
  func powerCuts() throws {
    var random = Seeds.generator(for: "GroupCommitTests power")
    var cuts = 0
    for operation in 0..<220 {
      let disk = try CrashingDirectory()
      disk.plan(.cutPower(at: operation))
      var told = Told()
      if let backend = try? CDBBackend(disk, limits: Self.limits) {
        told = try commit(backend)
        if told.done.count < 24 { cuts += 1 }
        // The thread that wrote the last commits may release the backend later, which closes it.
        try? backend.close()
      }
      let rebooted = try disk.afterPowerCut(using: &random)
      let again = try CDBBackend(rebooted, limits: Self.limits)
      try check(again, told, "cut at \(operation)")
    }
    #expect(cuts > 10)
  }

  @Test("A disk that fails at any call loses no acknowledged commit")
  func failures() throws {
    var failed = 0
    for operation in 0..<220 {
      let disk = try CrashingDirectory()
      var limits = Self.limits
      limits.foldPause = .zero
      let backend = try CDBBackend(disk, limits: limits)
      disk.plan(.fail(at: operation, errno: operation % 2 == 0 ? 28 : 5))
      let told = try commit(backend)
      if told.done.count < 24 { failed += 1 }
      try? backend.close()
      disk.plan(.none)
      let again = try CDBBackend(disk, limits: limits)
      try check(again, told, "failure at \(operation)")
    }
    #expect(failed > 10)
  }

  @Test("Of several commits that change a row on the same basis, one succeeds")
  func conflicts() throws {
    let disk = try CrashingDirectory()
    let backend = try CDBBackend(disk)
    let table = try backend.table(named: "Song")
    for round in 0..<30 {
      let basis = CommitBasis(upTo: backend.lastCommitNumber)
      let outcomes = SharedLock<[StoreError.Code?]>([])
      Self.onThreads(6) { _ in
        var changes = ChangeSetBuilder()
        changes.update(2, in: table, [UInt8(round)])
        do {
          try backend.commit(changes.changeSet, CommitRequest(basis: basis))
          outcomes.withLock { $0.append(nil) }
        } catch { outcomes.withLock { $0.append((error as? StoreError)?.code) } }
      }
      let found = outcomes.withLock { $0 }
      #expect(found.count { $0 == nil } == 1 && found.count { $0 == .conflict } == 5)
    }
    #expect(backend.lastCommitNumber == 30)
  }

  @Test("A commit without a basis that changes another's row comes after it")
  func overlapping() throws {
    let disk = try CrashingDirectory()
    let backend = try CDBBackend(disk)
    let table = try backend.table(named: "Song")
    let inserted = SharedLock(0)
    Self.onThreads(6) { thread in
      for row in UInt32(2)..<40 {
        var changes = ChangeSetBuilder()
        changes.insert(row, in: table, [UInt8(thread)])
        if (try? backend.commit(changes.changeSet)) != nil { inserted.withLock { $0 += 1 } }
      }
    }
    #expect(inserted.withLock { $0 } == 38 && backend.lastCommitNumber == 38)
    #expect(try backend.recordCount(in: table) == 38)
  }

  /// Records the calls for its commit, and can refuse it.
  private final class Follower: CommitFollower {
    static let refusal = StoreError(.invalidArgument, "This commit is refused.")
    private let name: String
    private let isRefused: Bool
    private let notes: SharedLock<[String]>

    init(_ name: String, _ notes: SharedLock<[String]>, isRefused: Bool = false) {
      (self.name, self.notes, self.isRefused) = (name, notes, isRefused)
    }

    private func note(_ text: String) { notes.withLock { $0.append("\(name) \(text)") } }

    func didQueue() { note("queued") }
    func willWrite() throws(StoreError) { if isRefused { throw Self.refusal } }
    func didCommit() { note("committed") }
    func didFail(_ error: StoreError) { note("failed") }
  }

  @Test(
    "A queued commit blocks no thread, is reported in order, and its refusal is an error")
  func queued() throws {
    let disk = try CrashingDirectory()
    let backend = try CDBBackend(disk)
    let (notes, numbers) = (SharedLock<[String]>([]), SharedLock<[UInt64?]>([]))
    for (index, name) in ["a", "b", "c", "d"].enumerated() {
      var request = CommitRequest()
      request.follower = Follower(name, notes, isRefused: name == "b")
      try backend.enqueue(
        Self.changes(UInt32(index + 2), backend), request, mayWait: name == "d"
      ) { outcome in
        numbers.change { $0.append(try? outcome.get().number) }
      }
    }
    numbers.change(once: { $0.count == 4 }) { _ in }
    #expect(numbers.withLock { $0 } == [1, nil, 2, 3])
    let found = notes.withLock { $0 }
    #expect(
      found.filter { $0.hasSuffix("queued") } == ["a queued", "b queued", "c queued", "d queued"])
    #expect(
      found.filter { $0.hasSuffix("committed") } == ["a committed", "c committed", "d committed"])
    #expect(found.count { $0 == "b failed" } == 1)
    let table = try backend.table(named: "Song")
    #expect(
      try backend.recordCount(in: table) == 3 && backend.withRecord(3, in: table) { _ in } == nil)
    // An empty one has nothing to wait for, and a closed backend takes none.
    try backend.close()
    #expect(throws: StoreError.self) { try backend.commit(Self.changes(9, backend)) }
  }
}

import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Copies that follow a store")
struct FollowingTests {
  @Test(
    "After random saves, in one stream or several, the copy has the same bytes",
    arguments: TestedBackend.usual)
  func random(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "copies that follow, \(kind)")
    try kind.withLocation { location in
      var store = try RememberedStore(try MemoryBackend(), seed: generator.next())
      var target = try location.open()
      var follower = try StoreFollower(target)
      for round in 0..<40 {
        try store.saveWithImages(.random(in: 0...3, using: &generator))
        if round == 20 { try store.backend.purgeHistory(through: min(12, target.lastCommitNumber)) }
        if round % 3 == 0 {
          try follower.catchUp(with: store.backend)
        } else {
          try send(store, &follower, &generator)
        }
        #expect(try follower.position() == store.backend.historyPosition())
        #expect(target.lastCommitNumber == store.backend.lastCommitNumber)
        if round % 4 == 0 {
          #expect(
            try RememberedStore.image(of: target).differences(
              from: RememberedStore.image(of: store.backend)) == [])
        }
        if round % 7 == 6 {
          try target.close()
          target = try location.open()
          follower = try StoreFollower(target)
        }
      }
      #expect(
        try RememberedStore.image(of: target) == RememberedStore.image(of: store.backend))
      try checkCommits(of: target, store.backend)
      try target.close()
    }
  }

  /// Sends new commits in parts of random sizes, and some older commits again.
  private func send(
    _ store: RememberedStore, _ follower: inout StoreFollower,
    _ generator: inout SeededGenerator
  ) throws {
    var bytes: [UInt8] = []
    guard let known = try follower.position() else {
      try follower.catchUp(with: store.backend)
      return
    }
    let oldest = max(try store.backend.historyStart() ?? 0, known.number - 3)
    let number = UInt64.random(in: oldest...known.number, using: &generator)
    var writer = HistoryStreamWriter(behind: try store.backend.historyPosition(after: number))
    try writer.write(store.backend) { bytes += $0 }
    bytes += writer.heartbeat(of: store.backend)
    bytes += writer.end()
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + .random(in: 1...5000, using: &generator))
      try follower.apply(Array(bytes[start..<end]))
      start = end
    }
    try follower.finish()
    #expect(follower.sourceCommitNumber == store.backend.lastCommitNumber)
  }

  private func checkCommits(of target: any StoreBackend, _ source: any StoreBackend) throws {
    func commits(_ backend: any StoreBackend) throws -> [Commit] {
      var commits: [Commit] = []
      try backend.forEachHistoryEntry(after: try backend.historyStart() ?? 0) { entry in
        commits.append(entry.commit)
        return .next
      }
      return commits
    }
    #expect(try commits(target) == commits(source))
    #expect(target.coordinator.journal.last == source.coordinator.journal.last)
  }

  @Test(
    "A copy accepts only commits of the followed store until it is promoted",
    arguments: TestedBackend.usual)
  func promoting(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let source = try MemoryBackend()
      let store = try Store.ofSongs(source)
      try source.beginHistory()
      store.insert(FollowedSong("Sunny"))
      try store.saveChanges()
      var target = try location.open()
      var follower = try StoreFollower(target)
      try follower.catchUp(with: source)
      let id = try source.historyID()
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) {
          try target.commit { $0.insert(99, in: try target.table(named: "FollowedSong"), [1]) }
        }
        #expect(error?.code == .readOnly && error?.message.contains("promote") == true)
        let copy = try Store.ofSongs(target)
        copy.insert(FollowedSong("Blue"))
        #expect(throws: StoreError.self) { try copy.saveChanges() }
        copy.discardChanges()
        // No store has built the index, and the copy can't.
        let found = try copy.fetch(FollowedSong.self, where: #Predicate { $0.title == "Sunny" })
        #expect(found.map(\.title) == ["Sunny"])
        try target.close()
        target = try location.open()
      }
      #expect(try target.isFollower() && target.historyID() == id)
      let commit = try #require(try target.promote(author: "Ann"))
      #expect(try !target.isFollower() && target.historyID() != id)
      #expect(commit.number == source.lastCommitNumber + 1 && commit.author == "Ann")
      #expect(throws: StoreError.self) { try target.promote() }
      let own = try Store.ofSongs(target)
      let song = FollowedSong("Blue")
      own.insert(song)
      try own.saveChanges()
      // Row IDs continue after those of the followed store.
      #expect(song.rowID == 3)
      let error = #expect(throws: StoreError.self) { _ = try StoreFollower(target) }
      #expect(error?.code == .invalidArgument)
      // The history has no gap at the promotion.
      let beginning = try target.historyStart() ?? 0
      var writer = HistoryStreamWriter(behind: try target.historyPosition(after: beginning))
      #expect(UInt64(try writer.write(target) { _ in }) == target.lastCommitNumber - beginning)
      try target.close()
    }
  }

  @Test(
    "A copy can follow while commits are being made", arguments: TestedBackend.usual)
  func concurrentCommits(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let source = try location.open()
      try source.beginHistory()
      let table = try source.table(named: "Song")
      // Large records keep a commit between its first step and its last.
      let record = [UInt8](repeating: 7, count: 200_000)
      let commits = JoinedResult<(any Error)?> {
        do {
          for row in 1...UInt32(100) { try source.commit { $0.insert(row, in: table, record) } }
          return nil
        } catch { return error }
      }
      let target = try MemoryBackend()
      var follower = try StoreFollower(target)
      let start = ContinuousClock.now
      while try target.recordCount(in: target.table(named: "Song")) < 100,
        .now - start < .seconds(60)
      {
        try follower.catchUp(with: source)
      }
      let error = try #require(commits?.take())
      #expect(error == nil)
      #expect(try follower.position() == source.historyPosition())
      try checkCommits(of: target, source)
      try source.close()
    }
  }

  @Test("A promoted copy does not use the row IDs of deleted objects again")
  func reservedRows() throws {
    let (source, target) = (try MemoryBackend(), try MemoryBackend())
    try source.beginHistory()
    let store = try Store.ofSongs(source)
    for number in 0..<5 {
      let song = FollowedSong("\(number)")
      store.insert(song)
      try store.saveChanges()
      if number > 2 {
        store.delete(song)
        try store.saveChanges()
      }
    }
    var follower = try StoreFollower(target)
    try follower.catchUp(with: source)
    try target.promote()
    let copy = try Store.ofSongs(target)
    let song = FollowedSong("new")
    copy.insert(song)
    try copy.saveChanges()
    #expect(song.rowID == 7)
  }

  @Test("A replication applies each commit, and stores on the copy see it")
  func replication() throws {
    let (source, target) = (try MemoryBackend(), try MemoryBackend())
    try source.beginHistory()
    let store = try Store.ofSongs(source)
    let replication = try StoreReplication(of: source, to: target)
    let copy = try Store.ofSongs(target)
    for number in 0..<20 {
      store.insert(FollowedSong("\(number)"))
      try store.saveChanges()
      try replication.wait(forCommit: source.lastCommitNumber)
      #expect(try copy.count(of: FollowedSong.self) == number + 1)
    }
    #expect(replication.failure == nil && replication.commitNumber == source.lastCommitNumber)
    replication.stop()
    #expect(throws: StoreError.self) { try replication.wait(forCommit: .max) }
  }

  @Test(
    "A copy in the same process lags by less than 50 ms",
    arguments: [TestedBackend.memory, .tokyoCabinet])
  func lag(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let source = try MemoryBackend()
      try source.beginHistory()
      let table = try source.table(named: "Song")
      let target = try location.open()
      let replication = try StoreReplication(of: source, to: target)
      var lags: [Duration] = []
      for row in UInt32(2)..<202 {
        try source.commit { $0.insert(row, in: table, [1, 2, 3]) }
        let start = ContinuousClock.now
        try replication.wait(forCommit: source.lastCommitNumber)
        lags.append(start.duration(to: .now))
      }
      replication.stop()
      lags.sort()
      print("lag of \(kind): median \(lags[100]), 99 % \(lags[198]), longest \(lags[199])")
      // Beside other tests, the slowest ones wait for a processor.
      #expect(lags[100] < .milliseconds(50))
      try target.close()
    }
  }

  @Test("A shared copy can be read while it follows", arguments: [TestedBackend.cdb])
  func shared(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { folder in
      let source = try kind.open(folder + "/source")
      try source.beginHistory()
      let store = try Store.ofSongs(source)
      store.insert(FollowedSong("0"))
      try store.saveChanges()
      try source.makeFollower(in: folder + "/copy")
      let target = try kind.open(folder + "/copy", sharing: .processes)
      let reader = try kind.open(folder + "/copy", sharing: .processes)
      let copy = try Store.ofSongs(reader)
      var follower = try StoreFollower(target)
      for number in 1..<30 {
        store.insert(FollowedSong("\(number)"))
        try store.saveChanges()
        try follower.catchUp(with: source)
        #expect(try copy.count(of: FollowedSong.self) == number + 1)
        let error = #expect(throws: StoreError.self) {
          try reader.commit { $0.insert(999, in: try reader.table(named: "Album"), [1]) }
        }
        #expect(error?.code == .readOnly)
      }
      try target.promote()
      try reader.commit { $0.insert(999, in: try reader.table(named: "Album"), [1]) }
      for backend in [source, target, reader] { try backend.close() }
      let damage: Set<StoreFinding.Kind> = [.log, .fileDamaged, .index]
      #expect(
        try kind.check(folder + "/copy").findings.filter { damage.contains($0.kind) } == [])
    }
  }

  @Test("After a full disk a follower continues, and nothing is lost")
  func fullDisk() throws {
    let disk = try CrashingDirectory()
    let source = try MemoryBackend()
    try source.beginHistory()
    let table = try source.table(named: "Song")
    let target = try TestedBackend.tokyoCabinet.open(disk)
    var follower = try StoreFollower(target)
    try follower.catchUp(with: source)
    for row in UInt32(2)..<60 {
      try source.commit { $0.insert(row, in: table, [UInt8](repeating: 7, count: 3000)) }
      if row % 10 == 0 {
        disk.plan(.fail(at: 0, errno: ENOSPC))
        do { try follower.catchUp(with: source) } catch {}
        disk.plan(.none)
      }
      try follower.catchUp(with: source)
    }
    #expect(try RememberedStore.image(of: target) == RememberedStore.image(of: source))
    try target.close()
  }
}

/// A class with an index.
final class FollowedSong: StoredObject {
  @Content var title = ""

  convenience init(_ title: String) {
    self.init()
    self.title = title
  }

  override class var indexes: [AttributeIndex] { [AttributeIndex("title", \FollowedSong.title)] }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
}

extension Store {
  static func ofSongs(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(FollowedSong.self)
    return store
  }
}

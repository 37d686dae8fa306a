import Foundation
import Locks
import ProgramTesting
import StoreEngine
import StoredObjectsCore
import StoredObjectsSync
import StoredObjectsSyncHTTP
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Copies that follow over HTTP", .serialized)
struct HTTPFollowerTests {
  private func quick() -> HTTPFollowerConfiguration {
    var configuration = HTTPFollowerConfiguration()
    (configuration.minimumDelay, configuration.maximumDelay) = (.milliseconds(1), .milliseconds(20))
    return configuration
  }

  /// Runs a follower until a closure returns, and returns the error of its run.
  private func following(
    _ follower: HTTPFollower, _ body: () async throws -> Void
  ) async throws -> (any Error)? {
    let task = Task { try await follower.run() }
    try await body()
    task.cancel()
    do {
      try await task.value
      return nil
    } catch { return error }
  }

  @Test(
    "While the line is cut at random bytes, every commit arrives exactly once",
    arguments: [TestedBackend.memory, .tokyoCabinet])
  func cuts(_ kind: TestedBackend) async throws {
    try await withTemporaryDirectory(in: .memory) { folder in
      var generator = Seeds.generator(for: "lines that are cut, \(kind)")
      let seed = generator.next()
      let store = try FollowedStore(seed: seed)
      let server = try HistoryTestServer(HistoryServer(store.backend, limits: .timeless))
      defer { server.close() }
      let random = SharedLock(SeededGenerator(seed: seed))
      // Copies are cut as well; most cuts are within the first entries.
      server.cut {
        random.withLock { random in
          .random(in: 0...(.random(in: 0...3, using: &random) == 0 ? 40_000 : 6000), using: &random)
        }
      }
      let target =
        kind == .memory
        ? try MemoryBackend() as any StoreBackend
        : try kind.open(folder + "/Copy", durability: .none)
      let failures = SharedLock(0)
      var configuration = quick()
      configuration.didFail = { _, _ in failures.withLock { $0 += 1 } }
      let follower = try HTTPFollower(
        server.url, token: "secret", target: target, configuration: configuration)
      let error = try await following(follower) { () async throws in
        for _ in 0..<60 {
          for _ in 0..<Int.random(in: 0...4, using: &generator) { try store.save() }
          try await Task.sleep(for: .milliseconds(.random(in: 0...25, using: &generator)))
        }
        #expect(
          try await eventually {
            try store.save()
            return failures.withLock { $0 } > 100
          })
        server.cut { nil }
        let last = store.backend.lastCommitNumber
        #expect(try await eventually { follower.status.commitNumber == last })
      }
      #expect(error is CancellationError)
      print("\(server.answers.count) connections, \(failures.withLock { $0 }) were cut")
      try expectCopy(target, of: store.backend)
      #expect(try target.followedPosition() == store.backend.historyPosition())
      try target.close()
    }
  }

  @Test("A refused token, address, store and history are typed errors, and change nothing")
  func refusals() async throws {
    let store = try FollowedStore(seed: 1)
    let server = try HistoryTestServer(HistoryServer(store.backend, limits: .timeless))
    defer { server.close() }
    func error(
      _ token: String, _ target: any StoreBackend, path: String = "/history"
    ) async throws -> any Error {
      let url = server.url(path)
      let follower = try HTTPFollower(
        url, token: token, target: target, configuration: quick())
      return try await #require(throws: (any Error).self) { try await follower.run() }
    }
    let empty = try MemoryBackend()
    for token in ["", "Secret", "secret ", "device of Ann"] {
      let found = try await error(token, empty) as? HTTPFollowerError
      #expect(found == .refused(status: 401) && found?.description.contains("token") == true)
    }
    let found = try await error("secret", empty, path: "/other") as? HTTPFollowerError
    #expect(found == .refused(status: 404))
    let nonsense = try await error("secret", empty, path: "/history?after=x") as? HTTPFollowerError
    #expect(nonsense == .refused(status: 400))
    #expect(try empty.tableNames() == [] && empty.followedPosition() == nil)

    let copy = try MemoryBackend()
    try await HTTPFollower(server.url, token: "secret", target: copy).catchUp()
    try store.save()
    try store.backend.purgeHistory(through: store.backend.lastCommitNumber)
    let before = try StoreImage(of: copy)
    let expired = try await error("secret", copy) as? StoreError
    #expect(expired?.code == .historyExpired)
    let other = try HistoryTestServer(HistoryServer(FollowedStore(seed: 2, saves: 20).backend))
    defer { other.close() }
    let follower = try HTTPFollower(other.url, token: "secret", target: copy)
    let foreign = await #expect(throws: StoreError.self) { try await follower.catchUp() }
    #expect(foreign?.code == .otherHistory)
    #expect(try StoreImage(of: copy) == before)
    #expect(throws: StoreError.self) {
      try HTTPFollower(server.url, token: "secret", target: store.backend)
    }
  }

  @Test("A server that is away or busy is asked again, and one that ends is left complete")
  func restarts() async throws {
    let store = try FollowedStore(seed: 3)
    let server = try HistoryTestServer(HistoryServer(store.backend, limits: .timeless))
    defer { server.close() }
    server.fail([503, 429, 500, 502])
    let failures = SharedLock<[any Error]>([])
    var configuration = quick()
    configuration.didFail = { error, _ in failures.withLock { $0.append(error) } }
    let copy = try MemoryBackend()
    let follower = try HTTPFollower(
      server.url, token: "secret", target: copy, configuration: configuration)
    let error = try await following(follower) { () async throws in
      // The number of the server's last commit comes behind the copy.
      #expect(
        try await eventually {
          let (status, last) = (follower.status, store.backend.lastCommitNumber)
          return status.isConnected && status.commitNumber == last
            && status.sourceCommitNumber == last
        })
      #expect(failures.withLock { $0 }.count == 4)
      server.close()
      // It ended complete: the failures are those of new connections.
      #expect(try await eventually { failures.withLock { $0 }.count > 5 })
      let isCut = failures.withLock { $0 }.contains { $0 as? HTTPFollowerError == .cutOff }
      #expect(!isCut && !follower.status.isConnected && follower.status.failure != nil)
    }
    #expect(error is CancellationError)
    try expectCopy(copy, of: store.backend)
  }

  @Test("A follower runs once at a time")
  func runsOnce() async throws {
    let store = try FollowedStore(seed: 4)
    let server = try HistoryTestServer(HistoryServer(store.backend, limits: .timeless))
    defer { server.close() }
    let follower = try HTTPFollower(server.url, token: "secret", target: MemoryBackend())
    _ = try await following(follower) { () async throws in
      #expect(try await eventually { follower.status.isConnected })
      let error = await #expect(throws: StoreError.self) { try await follower.run() }
      #expect(error?.code == .invalidArgument)
    }
    #expect(try await follower.catchUp() == store.backend.lastCommitNumber)
  }

  @Test("A follower that is slower than its server continues after what it has applied")
  func tooFast() async throws {
    let store = try FollowedStore(seed: 5)
    let server = try HistoryTestServer(HistoryServer(store.backend, limits: .timeless))
    defer { server.close() }
    let copy = try MemoryBackend()
    var configuration = quick()
    configuration.waitingByteCount = 1000
    let follower = try HTTPFollower(
      server.url, token: "secret", target: copy, configuration: configuration)
    try await follower.catchUp()
    let count = server.answers.count
    // The copy is written slowly, and the commits are more than arrives meanwhile.
    let listener = CommitListener({ _ in usleep(5000) }, didLoseTrack: {})
    copy.coordinator.attach(listener)
    defer { copy.coordinator.detach(listener) }
    for _ in 0..<40 { try store.save(byteCount: 300_000) }
    _ = try await following(follower) { () async throws in
      let last = store.backend.lastCommitNumber
      #expect(try await eventually { follower.status.commitNumber == last })
    }
    #expect(server.answers.count > count + 1)
    try expectCopy(copy, of: store.backend)
  }

  @Test("Commits reach the copy in milliseconds")
  func lag() async throws {
    try await withTemporaryDirectory { folder in
      let store = try FollowedStore(seed: 6)
      let server = try HistoryTestServer(HistoryServer(store.backend, limits: .timeless))
      defer { server.close() }
      let copy = try TestedBackend.tokyoCabinet.open(folder + "/Copy")
      let follower = try HTTPFollower(server.url, token: "secret", target: copy)
      var lags: [Duration] = []
      _ = try await following(follower) { () async throws in
        #expect(
          try await eventually {
            follower.status.commitNumber == store.backend.lastCommitNumber
          })
        for _ in 0..<40 {
          try store.save()
          let (start, last) = (ContinuousClock.now, store.backend.lastCommitNumber)
          while follower.status.commitNumber < last, .now - start < .seconds(20) { usleep(200) }
          lags.append(.now - start)
        }
      }
      lags.sort()
      print("lag over HTTP: \(lags[20]) in the median, \(lags[39]) at most")
      #expect(lags[20] < .milliseconds(50))
      try expectCopy(copy, of: store.backend)
      try copy.close()
    }
  }

  @Test(
    "curl and apply create a copy and continue it",
    .enabled(if: InstalledProgram("curl") != nil, "curl is not installed"))
  func curl() async throws {
    let store = try FollowedStore(seed: 7)
    var limits = HistoryServerLimits()
    // The streams end, and with them the commands.
    limits.duration = .milliseconds(500)
    let history = try HistoryServer(store.backend, limits: limits)
    let server = try HistoryTestServer(history)
    defer { server.close() }
    let directory = try ProgramDirectory()
    defer { directory.remove() }
    let tool = try ProgramDirectory.executable("stored-objects").path
    let shell = try #require(InstalledProgram("sh"))
    func run(_ token: String) throws -> (status: Int32, output: String) {
      let script = """
        cd '\(directory.folder.path)'
        after=$([ ! -e Copy ] || '\(tool)' apply Copy --position)
        curl -fsSN -H "Authorization: Bearer \(token)" "\(server.url)?after=${after:-0}" |
          '\(tool)' apply Copy
        """
      return try shell.run(["-c", script])
    }
    for _ in 0..<3 {
      for _ in 0..<3 { try store.save() }
      let found = try run("secret")
      let last = store.backend.lastCommitNumber
      #expect(found == (0, "The copy in Copy has all commits up to \(last).\n"))
    }
    let refused = try run("wrong")
    #expect(refused.status == 1 && refused.output.contains("401"))
    let copy = try TestedBackend.tokyoCabinet.open(directory.path("Copy"))
    try expectCopy(copy, of: store.backend)
    try copy.close()
  }
}

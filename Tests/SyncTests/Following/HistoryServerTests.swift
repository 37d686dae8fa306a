import Foundation
import Locks
import StoreEngine
import StoredObjectsCore
import StoredObjectsSync
import StoredObjectsTestSupport
import Testing

@Suite("A server of histories")
struct HistoryServerTests {
  private func request(_ query: [String: String]) throws -> HistoryRequest {
    try HistoryRequest { query[$0] }
  }

  @Test("The parameters of a request are read as they are written")
  func parameters() throws {
    let position = HistoryPosition(historyID: UUID(), number: 17, token: UUID())
    let request = HistoryRequest(after: position)
    #expect(request.parameters.map(\.name) == ["after", "history", "commit"])
    let query = Dictionary(uniqueKeysWithValues: request.parameters.map { ($0.name, $0.value) })
    #expect(try self.request(query) == request)
    #expect(try self.request([:]) == HistoryRequest(after: nil))
    #expect(try self.request(["after": "0"]) == HistoryRequest(after: nil))
    #expect(try self.request(["after": "18446744073709551615"]).number == .max)
  }

  @Test(
    "Parameters that make no sense are refused",
    arguments: [
      ["after": ""], ["after": "-1"], ["after": "+1"], ["after": "1.0"], ["after": "x"],
      ["after": "18446744073709551616"], ["after": "000000000000000000001"],
      ["after": "١"], ["after": "1", "history": "x"], ["after": "1", "commit": ""],
      ["history": "\(UUID())"], ["after": "0", "commit": "\(UUID())"],
    ])
  func nonsense(_ query: [String: String]) throws {
    let error = #expect(throws: HistoryRefusal.self) { try request(query) }
    #expect(error?.status == 400 && error?.underlying == nil)
  }

  @Test("Parameters that are too long are refused, and not repeated", arguments: ["0", "a", "-"])
  func length(_ character: String) throws {
    let long = String(repeating: character, count: 1_000_000)
    for query in [
      ["after": long], ["after": "1", "history": long], ["after": "1", "commit": long],
    ] {
      let error = #expect(throws: HistoryRefusal.self) { try request(query) }
      #expect(error?.status == 400 && (error?.description.count ?? .max) < 200)
    }
  }

  @Test("Another store, another state and a purged history have statuses of their own")
  func positions() async throws {
    let store = try FollowedStore(seed: 1)
    let server = try HistoryServer(store.backend, limits: .timeless)
    let known = try store.backend.historyPosition()
    func status(_ request: HistoryRequest) async -> Int? {
      do {
        _ = try await server.stream(request, for: "mirror")
        return 200
      } catch { return error.status }
    }
    func position(_ id: UUID, _ number: UInt64, _ token: UUID) -> HistoryRequest {
      HistoryRequest(after: HistoryPosition(historyID: id, number: number, token: token))
    }
    let (id, number) = (known.historyID, known.number)
    #expect(await status(HistoryRequest(after: known)) == 200)
    #expect(await status(try request(["after": "\(number)"])) == 200)
    #expect(await status(position(UUID(), number, known.token)) == 409)
    #expect(await status(position(id, number, UUID())) == 409)
    #expect(await status(position(id, number + 1, known.token)) == 409)
    // The history has another ID, whatever the number.
    #expect(await status(position(UUID(), 1, known.token)) == 409)
    #expect(await status(position(id, .max, known.token)) == 409)
    try store.save()
    try store.backend.purgeHistory(through: known.number)
    #expect(await status(position(id, number - 1, known.token)) == 410)
    #expect(await status(HistoryRequest(after: nil)) == 200)
    try store.backend.close()
    #expect(await status(HistoryRequest(after: nil)) == 503)
    #expect(try await eventually { server.followers.isEmpty })
  }

  @Test("What a follower has not seen is kept for it, whatever its age and size")
  func consumers() async throws {
    let store = try FollowedStore(seed: 11)
    let server = try HistoryServer(store.backend, limits: .timeless)
    func connect(at position: HistoryPosition?) async throws {
      _ = try await server.stream(HistoryRequest(after: position), for: "mirror")
    }
    let everything = HistoryRetention(age: .zero, byteCount: 0)
    let copied = try store.backend.historyPosition()
    try await connect(at: nil)
    #expect(try store.backend.historyConsumers() == ["follower mirror": copied.number])
    try store.save()
    #expect(try store.backend.purgeHistory(keeping: everything) == copied.number)
    // A connection makes no commit if the last one is near.
    let number = store.backend.lastCommitNumber
    try await connect(at: copied)
    #expect(store.backend.lastCommitNumber == number)
    for _ in 0..<1000 { try store.save(byteCount: 1) }
    let later = try store.backend.historyPosition()
    try await connect(at: later)
    #expect(try store.backend.purgeHistory(keeping: everything) == later.number)
    // A copy that was restored from a backup is behind again, and gets an error.
    await #expect(throws: HistoryRefusal.self) { try await connect(at: copied) }
    #expect(try store.backend.historyConsumers() == ["follower mirror": later.number])
    try store.backend.noteHistorySeen(by: "follower mirror", through: nil)
    #expect(try store.backend.historyConsumers().isEmpty)
  }

  @Test("A follower that has been away for too long keeps no history", arguments: [0, 1, 2])
  func lostFollowers(_ kind: Int) async throws {
    let store = try FollowedStore(seed: 12)
    var limits = HistoryServerLimits.timeless
    limits.followerRetention = [nil, .milliseconds(1), .seconds(3600)][kind]
    let server = try HistoryServer(store.backend, limits: limits)
    let position = try store.backend.historyPosition()
    let request = HistoryRequest(after: position)
    _ = try await server.stream(request, for: "mirror")
    try store.save()
    try await Task.sleep(for: .milliseconds(5))
    #expect(try store.backend.historyConsumers().count == (kind == 2 ? 1 : 0))
    try store.backend.purgeHistory(keeping: HistoryRetention(age: .zero))
    var status = 200
    do { _ = try await server.stream(request, for: "mirror") } catch { status = error.status }
    #expect(status == (kind == 2 ? 200 : 410))
  }

  @Test("A follower of a copy leaves the copy as it is")
  func followersOfCopies() async throws {
    let store = try FollowedStore(seed: 13)
    let copy = try MemoryBackend()
    var follower = try StoreFollower(copy)
    try follower.catchUp(with: store.backend)
    let server = try HistoryServer(copy, limits: .timeless)
    let number = copy.lastCommitNumber
    _ = try await server.stream(HistoryRequest(after: nil), for: "mirror")
    #expect(copy.lastCommitNumber == number)
    #expect(try copy.historyConsumers().isEmpty)
  }

  @Test("The number of followers is limited, and a follower has one stream")
  func followerCount() async throws {
    let store = try FollowedStore(seed: 2)
    var limits = HistoryServerLimits.timeless
    limits.followerCount = 2
    let server = try HistoryServer(store.backend, limits: limits)
    let request = HistoryRequest(after: try store.backend.historyPosition())
    var first: HistoryStream? = try await server.stream(request, for: "a")
    let second = try await server.stream(request, for: "b")
    let error = await #expect(throws: HistoryRefusal.self) {
      _ = try await server.stream(request, for: "c")
    }
    #expect(error?.status == 503)
    // The same follower again, whose first connection may be broken.
    let again = try await server.stream(request, for: "b")
    let cut = await #expect(throws: StoreError.self) { for try await _ in second {} }
    #expect(cut?.code == .closed)
    #expect(Set(server.followers.keys) == ["a", "b"])
    // A stream ends with its reader.
    withExtendedLifetime(first) {}
    first = nil
    #expect(try await eventually { server.followers.count == 1 })
    let third = try await server.stream(request, for: "c")
    withExtendedLifetime((again, third)) {}
  }

  @Test("A closed server ends its streams complete, and refuses new ones")
  func closing() async throws {
    let store = try FollowedStore(seed: 3)
    let server = try HistoryServer(store.backend, limits: .timeless)
    let copy = try MemoryBackend()
    var follower = try StoreFollower(copy)
    let stream = try await server.stream(HistoryRequest(after: nil), for: "mirror")
    var count = 0
    for try await bytes in stream {
      try follower.apply(bytes)
      if copy.lastCommitNumber == store.backend.lastCommitNumber {
        count += 1
        if count < 4 { try store.save() } else { server.close() }
      }
    }
    try follower.finish()
    try expectCopy(copy, of: store.backend)
    #expect(follower.sourceCommitNumber != nil)
    let error = await #expect(throws: HistoryRefusal.self) {
      _ = try await server.stream(HistoryRequest(after: nil), for: "mirror")
    }
    #expect(error?.status == 503)
  }

  @Test("A stream without commits has heartbeats, and ends complete after its time")
  func duration() async throws {
    let store = try FollowedStore(seed: 4)
    let request = HistoryRequest(after: try store.backend.historyPosition())
    let copy = try MemoryBackend()
    var follower = try StoreFollower(copy)
    try follower.catchUp(with: store.backend)
    for isShort in [false, true] {
      var limits = HistoryServerLimits.timeless
      limits.heartbeat = .milliseconds(10)
      if isShort { limits.duration = .milliseconds(100) }
      let stream = try await HistoryServer(store.backend, limits: limits)
        .stream(request, for: "mirror")
      var count = 0
      for try await bytes in stream {
        try follower.apply(bytes)
        count += 1
        if !isShort, count == 5 { stream.end() }
      }
      try follower.finish()
      #expect(isShort || count >= 5)
    }
  }

  @Test("A slow follower makes the server wait, not grow, and gets all in the end")
  func slowFollower() async throws {
    let store = try FollowedStore(seed: 5)
    var limits = HistoryServerLimits.timeless
    limits.waitingByteCount = 100_000
    let server = try HistoryServer(store.backend, limits: limits)
    let position = try store.backend.historyPosition()
    let copy = try MemoryBackend()
    var follower = try StoreFollower(copy)
    try follower.catchUp(with: store.backend)
    let stream = try await server.stream(HistoryRequest(after: position), for: "slow")
    // 20 megabytes, none of which is taken.
    for _ in 0..<100 { try store.save(byteCount: 200_000) }
    #expect(try await eventually { stream.waitingByteCount > 0 })
    var largest = 0
    for _ in 0..<50 {
      largest = max(largest, stream.waitingByteCount)
      try await Task.sleep(for: .milliseconds(2))
    }
    // The limit, and a single part above it.
    #expect(largest < 1 << 20)
    #expect(server.followers["slow"] ?? .max < store.backend.lastCommitNumber - 50)
    // A copy for another, as slow, makes it wait, too.
    let copying = try await server.stream(HistoryRequest(after: nil), for: "new")
    #expect(try await eventually { copying.waitingByteCount > 0 })
    #expect(copying.waitingByteCount < 4 << 20)
    for try await bytes in stream {
      try follower.apply(bytes)
      if copy.lastCommitNumber == store.backend.lastCommitNumber { break }
    }
    try expectCopy(copy, of: store.backend)
  }

  @Test("A follower that takes nothing is cut off after a time")
  func stall() async throws {
    let store = try FollowedStore(seed: 6)
    var limits = HistoryServerLimits()
    limits.stall = .milliseconds(50)
    let server = try HistoryServer(store.backend, limits: limits)
    let stream = try await server.stream(HistoryRequest(after: nil), for: "mirror")
    #expect(try await eventually { server.followers.isEmpty })
    #expect(try await eventually { stream.waitingByteCount == 0 })
    let error = await #expect(throws: StoreError.self) { for try await _ in stream {} }
    #expect(error?.code == .ioError)
  }
}

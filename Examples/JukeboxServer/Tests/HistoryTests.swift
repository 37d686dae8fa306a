import Foundation
import Hummingbird
import HummingbirdTesting
import StoredObjects
import StoredObjectsSync
import StoredObjectsSyncHTTP
import StoredObjectsSyncServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

private final class MirroredSong: StoredObject {
  @Content var title = ""

  convenience init(_ title: String) {
    self.init()
    self.title = title
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
}

@Suite("Copies that follow over HTTP")
struct HistoryTests {
  private static let token = String(repeating: "f", count: 32)

  /// Runs a test with a store and the route of its history on a port.
  private func withPort(
    rate: SyncRate = SyncRate(), limits: HistoryServerLimits = HistoryServerLimits(),
    _ body: @Sendable (URL, any StoreBackend, HistoryServer) async throws -> Void
  ) async throws {
    let backend = try MemoryBackend()
    try save("1", to: backend)
    let history = try HistoryServer(backend, limits: limits)
    let router = Router()
    router.addHistory(history, rate: rate) { token in token == Self.token ? "mirror" : nil }
    try await Application(router: router).test(.live) { client in
      let port = try #require(client.port)
      try await body(
        try #require(URL(string: "http://localhost:\(port)/history")), backend, history)
    }
  }

  /// The code of the pages about followers, which is compiled, and not run.
  private func serve(
    _ backend: any StoreBackend, _ router: Router<BasicRequestContext>,
    _ followers: [String: String]
  ) throws {
    let history = try HistoryServer(backend)
    router.addHistory(history) { token in followers[token] }  // the name of the follower, or nil
  }

  private func save(_ title: String, to backend: any StoreBackend) throws {
    let store = Store(backend: backend)
    try store.register(MirroredSong.self)
    store.insert(MirroredSong(title))
    try store.saveChanges()
  }

  private func eventually(_ condition: () -> Bool) async throws -> Bool {
    let start = ContinuousClock.now
    while .now - start < .seconds(20) {
      if condition() { return true }
      try await Task.sleep(for: .milliseconds(1))
    }
    return false
  }

  @Test("A copy gets each commit while the stream is open, and the stream ends with the server")
  func following() async throws {
    let copy = try MemoryBackend()
    try await withPort { url, backend, history in
      let follower = try HTTPFollower(url, token: Self.token, target: copy)
      let task = Task { try await follower.run() }
      for number in 2...50 {
        try save("\(number)", to: backend)
        let last = backend.lastCommitNumber
        #expect(try await eventually { follower.status.commitNumber >= last })
      }
      #expect(Array(history.followers.keys) == ["mirror"])
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      // Another is connected when the service shuts down, which would wait for its stream.
      let other = try HTTPFollower(url, token: Self.token, target: MemoryBackend())
      Task { try await other.run() }
      #expect(try await eventually { other.status.isConnected })
    }
    let store = Store(backend: copy)
    try store.register(MirroredSong.self)
    let titles = try store.allObjects(of: MirroredSong.self).map(\.title)
    #expect(titles == (1...50).map { "\($0)" })
  }

  @Test("Wrong tokens, positions and rates have statuses of their own")
  func refusals() async throws {
    try await withPort(rate: SyncRate(requestsPerMinute: 1, burst: 6)) { url, backend, _ in
      func status(_ query: String, token: String = Self.token) async throws -> Int? {
        var request = URLRequest(url: try #require(URL(string: "\(url)\(query)")))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (_, response) = try await URLSession.shared.data(for: request)
        return (response as? HTTPURLResponse)?.statusCode
      }
      #expect(try await status("", token: "wrong") == 401)
      #expect(try await status("", token: "") == 401)
      #expect(try await status("?after=x") == 400)
      #expect(try await status("?after=\(String(repeating: "1", count: 3000))") == 400)
      #expect(try await status("?after=999") == 409)
      #expect(try await status("?after=1&history=\(UUID())") == 409)
      try save("2", to: backend)
      try backend.purgeHistory(through: backend.lastCommitNumber)
      #expect(try await status("?after=1") == 410)
      #expect(try await status("?after=1") == 410)
      #expect(try await status("?after=1") == 429)
    }
  }
}

import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import StoredObjects
import StoredObjectsSync
import StoredObjectsSyncHTTP
import Testing

@testable import JukeboxService

@Suite("Sync over HTTP")
struct SyncTests {
  private static let token = String(repeating: "a", count: 32)

  /// Runs a test with a service that listens on a port.
  private func withPort(
    _ body: @Sendable (URL, JukeboxService) async throws -> Void
  ) async throws {
    let devices = [Self.token: SyncDevice(id: "Ann"), Self.token + "b": SyncDevice(id: "Bob")]
    let service = try await JukeboxService(
      backend: MemoryBackend(), devices: devices, logger: Logger(label: "test"))
    try await Application(router: service.router()).test(.live) { client in
      let port = try #require(client.port)
      try await body(try #require(URL(string: "http://localhost:\(port)/sync")), service)
    }
  }

  private func device(_ url: URL, _ token: String) throws -> SyncClient {
    try SyncClient(
      backend: MemoryBackend(), classes: [Song.self, Playlist.self],
      transport: HTTPSyncTransport(url, token: token))
  }

  @Test("Two devices and the service have the same songs, and 10,000 come in less than 5 seconds")
  func devices() async throws {
    try await withPort { url, service in
      try await service.container.write { store in
        for number in 0..<10_000 {
          let song = Song()
          (song.title, song.artist) = ("Song \(number)", "Artist")
          store.insert(song)
        }
      }
      let ann = try device(url, Self.token)
      let start = ContinuousClock.now
      try await ann.sync()
      let duration = ContinuousClock.now - start
      print("10,000 songs came to a new device in \(duration)")
      #expect(duration < .seconds(5))
      let store = try ann.makeStore()
      let song = try #require(try store.allObjects(of: Song.self).first)
      song.playCount = 7
      let playlist = Playlist()
      playlist.songs = [song, song]
      store.insert(playlist)
      try store.saveChanges()
      #expect(try await ann.sync().sent == 1)
      let bob = try device(url, Self.token + "b")
      try await bob.sync()
      let other = try bob.makeStore()
      let playlists = try other.allObjects(of: Playlist.self)
      #expect(playlists.first?.songs.map(\.playCount) == [7, 7])
      let plays = try await service.container.read { store in
        try store.sum(of: \Song.playCount)
      }
      #expect(plays == 7)
    }
  }

  @Test("A token that is not known, and a body that is too large, get a status that says so")
  func refusals() async throws {
    try await withPort { url, _ in
      let stranger = try device(url, "no token")
      let error = await #expect(throws: HTTPSyncError.self) { try await stranger.sync() }
      #expect(error?.status == 401)
      let transport = HTTPSyncTransport(url, token: Self.token)
      let large = await #expect(throws: HTTPSyncError.self) {
        try await transport.send([UInt8](repeating: 0, count: (32 << 20) + 1)) { _ in }
      }
      #expect(large?.status == 413)
    }
  }

  @Test("A device that asks too often has to wait")
  func rate() async throws {
    try await withPort { url, _ in
      let transport = HTTPSyncTransport(url, token: Self.token)
      let error = await #expect(throws: HTTPSyncError.self) {
        for _ in 0..<1000 { try await transport.send([1, 2, 3]) { _ in } }
      }
      #expect(error?.status == 429)
    }
  }

  @Test("A server that is not there is an error of the connection, and loses nothing")
  func noServer() async throws {
    let ann = try device(try #require(URL(string: "http://localhost:9/sync")), Self.token)
    await #expect(throws: (any Error).self) { try await ann.sync() }
  }
}

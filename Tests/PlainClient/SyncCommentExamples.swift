// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsSync
  import StoredObjectsSyncHTTP
  import StoredObjectsTestSupport

  enum SyncComments {
    static var backend: TokyoCabinetBackend = notRun()
    static var container: StoreContainer = notRun()
    static var url: URL = notRun()
    static var token: String = notRun()
    static var configuration: TokyoCabinetBackend.Configuration = notRun()
    static var request: [UInt8] = notRun()
    static var songs: TableID = notRun()
    static var connection: Connection = notRun()

    static func send(_ bytes: [UInt8]) {}
    static func query(_ parameter: String) -> String? { nil }
    static func open(_ path: String) throws -> any DirectoryBackend {
      try TokyoCabinetBackend(directory: path)
    }

    @Stored final class Song: StoredObject {}
    @Stored final class Playlist: StoredObject {}

    struct Connection { func send(_ bytes: [UInt8]) async throws {} }

    /// From SyncClient.swift.
    static func syncClientExample() async throws {
      let client = try SyncClient(
        backend: backend, classes: [Song.self, Playlist.self],
        transport: HTTPSyncTransport(url, token: token))
      try await client.sync()

      let store = try client.makeStore()
      // …
      try await client.sync()
      _ = (client, store)
    }

    /// From SyncServer.swift.
    static func syncServerExample() async throws {
      let server = try SyncServer(container)
      // For each request, whose token tells the device:
      await server.answer(request, from: SyncDevice(id: "Ann's phone")) { bytes in send(bytes) }
      _ = server
    }

    /// From HistoryServer.swift.
    static func historyServerExample() async throws {
      let history = try HistoryServer(backend)
      // For each request, whose token names the follower:
      let stream = try await history.stream(HistoryRequest(query), for: "mirror 1")
      for try await bytes in stream { try await connection.send(bytes) }
      _ = (history, stream)
    }

    /// From HTTPFollower.swift.
    static func httpFollowerExample() async throws {
      let copy = try TokyoCabinetBackend(directory: "Music copy", configuration: configuration)
      let follower = try HTTPFollower(
        URL(string: "https://example.org/history")!, token: token, target: copy)
      try await follower.run()
      _ = (copy, follower)
    }

    /// From HTTPSyncTransport.swift.
    static func httpSyncTransportExample() throws {
      let transport = HTTPSyncTransport(
        URL(string: "https://example.org/sync")!, token: token)
      _ = transport
    }

    /// From ChangeSetBuilder.swift.
    static func changeSetBuilderExample() throws {
      try backend.commit { changes in
        changes.insert(2, in: songs, [0, 1, 2])
        changes.set("Favorite", [2, 0, 0, 0])
      }
    }

    /// From RandomStoreTest.swift.
    static func randomStoreTestExample() throws {
      try RandomStoreTest(seed: 1, steps: 5_000).run(MemoryLocation())
    }

    /// From ScriptedSession.swift.
    static func scriptedSessionExample() throws {
      let unused = ScriptedSession(seed: 7, saveCount: 16)
      var session = unused
      do { try session.run { try open("Store") } } catch {}  // the power is cut
      let found = try StoreImage(of: open("Rebooted"))
      let last = session.lastSave(in: found)  // at full: not before `acknowledged`
      _ = (unused, session, found, last)
    }

    /// From RandomSearchTest.swift.
    static func randomSearchTestExample() throws {
      try RandomSearchTest(seed: 1, sessions: 4).run(MemoryLocation())
    }
  }
#endif

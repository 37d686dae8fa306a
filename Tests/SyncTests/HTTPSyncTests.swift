#if Macros
  import Foundation
  import KeyValueStoreCore
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsSync
  import StoredObjectsSyncHTTP
  import TestFiles
  import TestedBackends
  import Testing

  @Suite("Two-way sync over HTTP")
  struct HTTPSyncTests {
    private static let devices = ["secret of Ann": "Ann", "secret of Bob": "Bob"]

    /// Runs a test with a server on a port, and its store.
    private func withServer(
      _ backend: any StoreBackend, _ body: (SyncTestServer) async throws -> Void
    ) async throws {
      let network = try SyncNetwork(backend)
      let server = try SyncTestServer(network.server, devices: Self.devices)
      defer { server.close() }
      try await body(server)
    }

    private func client(
      _ backend: any StoreBackend, _ name: String, _ server: SyncTestServer
    ) throws -> SyncClient {
      var configuration = SyncConfiguration()
      configuration.rowsAhead = 100
      configuration.requestByteCount = 1 << 16
      return try SyncClient(
        backend: backend, classes: syncedClasses,
        transport: HTTPSyncTransport(server.url, token: "secret of \(name)", timeout: 600),
        configuration: configuration)
    }

    private func insert(_ values: [[UInt8]], _ client: SyncClient) throws {
      let store = try client.makeStore()
      for (number, value) in values.enumerated() {
        let recording = Recording()
        (recording.title, recording.audio) = ("\(number)", ExternalData(value))
        store.insert(recording)
      }
      try store.saveChanges()
    }

    @Test(
      "Values outside of records come to other devices in requests of a limited size",
      arguments: [TestedBackend.cdb, .encryptedTokyoCabinet])
    func values(_ kind: TestedBackend) async throws {
      try await withTemporaryDirectory { folder in
        let backend = try kind.open(folder + "/server")
        try await withServer(backend) { server in
          let (first, second) = (
            try kind.open(folder + "/ann"), try kind.open(folder + "/bob")
          )
          let (ann, bob) = (try client(first, "Ann", server), try client(second, "Bob", server))
          try await ann.sync()
          try await bob.sync()
          let values = [noise(500_000, 1), noise(70_000, 2), noise(65_536, 3), noise(100, 4), []]
          try insert(values, ann)
          try await ann.sync()
          try await bob.sync()
          #expect(try contents(second) == contents(first))
          #expect(try contents(backend) == contents(first))
          let store = try bob.makeStore()
          for recording in try store.allObjects(of: Recording.self) {
            let number = try #require(Int(recording.title))
            #expect(try recording.audio.bytes() == values[number])
          }
          // A request carries a part, and a few bytes about it.
          let traffic = server.traffic.withLock { $0 }
          #expect(traffic.request < 80_000 && traffic.answer < 80_000 && traffic.requests > 15)
          let all = try store.allObjects(of: Recording.self)
          for recording in all.prefix(2) { store.delete(recording) }
          try store.saveChanges()
          try await bob.sync()
          try await ann.sync()
          #expect(try contents(first) == contents(second))
        }
      }
    }

    @Test("A value that is cut off in a request or in an answer continues there")
    func cuts() async throws {
      let backend = try MemoryBackend()
      try await withServer(backend) { server in
        let (first, second) = (try MemoryBackend(), try MemoryBackend())
        let (ann, bob) = (try client(first, "Ann", server), try client(second, "Bob", server))
        try await ann.sync()
        try await bob.sync()
        try insert([noise(400_000, 1), noise(300_000, 2)], ann)
        let count = SharedLock(0)
        // Every fifth request or answer is cut, if it has a large part of a value.
        server.cut.withLock {
          $0 = { _ in
            count.withLock { count in
              count += 1
              return count % 7 == 0 ? 30_000 : nil
            }
          }
        }
        for one in [ann, bob] {
          var failures = 0
          while failures < 100 {
            do {
              try await one.sync()
              break
            } catch { failures += 1 }
          }
          #expect((1..<100).contains(failures))
        }
        #expect(try contents(second) == contents(first))
        #expect(try contents(second).count == 2)
        #expect(try backend.values().strays.isEmpty)
      }
    }

    @Test("Items of key-value stores come over HTTP, too, and an unknown token gets nothing")
    func items() async throws {
      let backend = try MemoryBackend()
      try await withServer(backend) { server in
        let (first, second) = (try MemoryBackend(), try MemoryBackend())
        let (ann, bob) = (try client(first, "Ann", server), try client(second, "Bob", server))
        try await ann.sync()
        let notes = try await KeyValueStore(backend: first).createTable("notes")
        try await notes.put("milk", for: "monday")
        try await ann.sync()
        try await bob.sync()
        let found = try KeyValueStore(backend: second).table("notes").get(
          "monday", as: String.self)
        #expect(found == "milk")
        let stranger = try client(MemoryBackend(), "Eve", server)
        let error = await #expect(throws: HTTPSyncError.self) { try await stranger.sync() }
        #expect(error?.status == 401)
      }
    }
  }
#endif

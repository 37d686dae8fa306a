#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsSync

  /// A server and its devices in one process.
  struct SyncNetwork {
    let server: SyncServer
    let backend: any StoreBackend

    init(_ backend: any StoreBackend) throws {
      self.backend = backend
      server = try SyncServer(StoreContainer(backend: backend, classes: syncedClasses))
    }

    init() throws { try self.init(MemoryBackend()) }

    func device(
      _ id: String, _ backend: (any StoreBackend)? = nil, configuration: SyncConfiguration = .init()
    ) throws -> Device {
      try Device(id, backend ?? MemoryBackend(), self, configuration)
    }
  }

  /// A device of a network.
  final class Device {
    let id: String
    let backend: any StoreBackend
    let transport: LocalTransport
    let client: SyncClient

    init(
      _ id: String, _ backend: any StoreBackend, _ network: SyncNetwork,
      _ configuration: SyncConfiguration
    ) throws {
      (self.id, self.backend) = (id, backend)
      transport = LocalTransport(network.server, SyncDevice(id: id))
      client = try SyncClient(
        backend: backend, classes: syncedClasses, transport: transport,
        configuration: configuration)
    }

    @discardableResult
    func sync() async throws -> SyncReport { try await client.sync() }

    func store() throws -> Store {
      try client.makeStore(configuration: StoreConfiguration(author: id))
    }
  }

  /// Carries requests within the process, and loses some.
  final class LocalTransport: SyncTransport {
    /// The fault of the next request.
    enum Fault: Sendable { case none, lostRequest, lostAnswer, cutAnswer, sentTwice }
    struct Lost: Error {}

    private let server: SyncServer
    private let device: SyncDevice
    let fault = Locked<@Sendable () -> Fault>({ .none })

    init(_ server: SyncServer, _ device: SyncDevice) {
      (self.server, self.device) = (server, device)
    }

    func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws {
      let fault = fault.withLock { $0 }()
      if fault == .lostRequest { throw Lost() }
      if fault == .sentTwice { _ = await answer(request) }
      var bytes = await answer(request)
      if fault == .lostAnswer { throw Lost() }
      if fault == .cutAnswer { bytes.removeLast(bytes.count / 3 + 1) }
      // Parts of odd sizes, as of a network.
      for start in stride(from: 0, to: bytes.count, by: 1021) {
        try await receive(Array(bytes[start..<min(start + 1021, bytes.count)]))
      }
    }

    private func answer(_ request: [UInt8]) async -> [UInt8] {
      let parts = Locked<[UInt8]>([])
      await server.answer(request, from: device) { bytes in parts.withLock { $0 += bytes } }
      return parts.withLock { $0 }
    }
  }

  /// The objects of a store as text, for comparison.
  func contents(_ backend: any StoreBackend) throws -> [String] {
    let store = Store(backend: backend)
    try store.register(syncedClasses)
    let songs = try store.allObjects(of: Song.self).map { song in
      """
      \(song.id) \(song.title) \(song.seconds) \(song.notes) \(song.code ?? "-") \
      \(song.artist.map { "\($0.id)" } ?? "-")
      """
    }
    let artists = try store.allObjects(of: Artist.self).map { artist in
      "\(artist.id) \(artist.name) \(artist.songs.map { "\($0.id)" })"
    }
    let playlists = try store.allObjects(of: Playlist.self).map { playlist in
      "\(playlist.id) \(playlist.title) \(playlist.songs.map { "\($0.id)" })"
    }
    return (songs + artists + playlists).sorted()
  }
#endif

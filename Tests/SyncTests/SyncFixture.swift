#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsSync
  import StoredObjectsTestSupport

  /// A server and its devices in one process.
  struct SyncNetwork {
    let server: SyncServer
    let backend: any StoreBackend

    init(
      _ backend: any StoreBackend, classes: [StoredObject.Type] = syncedClasses,
      limits: SyncLimits = SyncLimits()
    ) throws {
      self.backend = backend
      server = try SyncServer(
        StoreContainer(backend: backend, classes: classes), limits: limits)
    }

    init() throws { try self.init(MemoryBackend()) }

    func device(
      _ id: String, _ backend: (any StoreBackend)? = nil,
      configuration: SyncConfiguration = .init(),
      classes: [StoredObject.Type] = syncedClasses
    ) throws -> Device {
      try Device(id, backend ?? MemoryBackend(), self, configuration, classes)
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
      _ configuration: SyncConfiguration, _ classes: [StoredObject.Type]
    ) throws {
      (self.id, self.backend) = (id, backend)
      transport = LocalTransport(network.server, SyncDevice(id: id))
      client = try SyncClient(
        backend: backend, classes: classes, transport: transport,
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
    let fault = SharedLock<@Sendable () -> Fault>({ .none })
    /// The bytes of all requests and answers, and of the largest of each.
    let traffic = SharedLock(Traffic())

    struct Traffic: Sendable {
      var sent = 0
      var received = 0
      var largestRequest = 0
      var largestAnswer = 0
      var requestCount = 0
    }

    init(_ server: SyncServer, _ device: SyncDevice) {
      (self.server, self.device) = (server, device)
    }

    func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws {
      let fault = fault.withLock { $0 }()
      if fault == .lostRequest { throw Lost() }
      if fault == .sentTwice { _ = await answer(request) }
      var bytes = await answer(request)
      traffic.withLock { [count = bytes.count] traffic in
        traffic.requestCount += 1
        traffic.sent += request.count
        traffic.received += count
        traffic.largestRequest = max(traffic.largestRequest, request.count)
        traffic.largestAnswer = max(traffic.largestAnswer, count)
      }
      if fault == .lostAnswer { throw Lost() }
      if fault == .cutAnswer { bytes.removeLast(bytes.count / 3 + 1) }
      // Parts of odd sizes, as of a network.
      for start in stride(from: 0, to: bytes.count, by: 1021) {
        try await receive(Array(bytes[start..<min(start + 1021, bytes.count)]))
      }
    }

    private func answer(_ request: [UInt8]) async -> [UInt8] {
      let parts = SharedLock<[UInt8]>([])
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
    let recordings = try store.allObjects(of: Recording.self).map { recording in
      let cover = try recording.cover.map { text(try $0.bytes()) } ?? "-"
      return "\(recording.id) \(recording.title) \(text(try recording.audio.bytes())) \(cover)"
    }
    return (songs + artists + playlists + recordings).sorted()
  }

  private func text(_ bytes: [UInt8]) -> String {
    "\(bytes.count):\(ExternalValueWriter.checksum(bytes))"
  }

  /// Bytes that differ for each seed.
  func noise(_ count: Int, _ seed: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
    let block = (0..<1009).map { _ in UInt8.random(in: 0...255, using: &generator) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    return Array(bytes.prefix(count))
  }

  extension StoreBackend {
    /// The values of the store, and those of them that nothing refers to.
    func values() throws -> (all: Set<ExternalID>, strays: Set<ExternalID>) {
      let all = Set(try externalStorage?.list().map(\.id) ?? [])
      var listed: Set<ExternalID> = []
      try ExternalCatalogue.ifUsed(in: self)?.forEach { reference, _ in listed.insert(reference.id)
      }
      return (all, all.subtracting(listed))
    }
  }
#endif

import Foundation
import Locks
import PostgreSQLBackend
import StoreEngine
import StoredObjectsCore
import StoredObjectsSync
import StoredObjectsTestSupport
import TestServer
import Testing

@Suite("Devices that synchronize with a store on PostgreSQL", .needsServer)
struct SyncTests {
  /// Carries requests to servers on two machines, in turns.
  private final class TwoServers: SyncTransport {
    private let servers: [SyncServer]
    private let device: SyncDevice
    private let count = Locked(0)

    init(_ servers: [SyncServer], _ id: String) {
      (self.servers, device) = (servers, SyncDevice(id: id))
    }

    func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws {
      let number = count.withLock { count in
        count += 1
        return count
      }
      let parts = Locked<[UInt8]>([])
      await servers[number % servers.count].answer(request, from: device) { bytes in
        parts.withLock { $0 += bytes }
      }
      try await receive(parts.withLock { $0 })
    }
  }

  @Test("Servers on two machines order the commits of devices and of their own programs")
  func twoServers() async throws {
    let database = try TestDatabase()
    let servers = try (0..<2).map { _ in
      try SyncServer(StoreContainer(backend: database.backend(), classes: [Song.self]))
    }
    let backends = try (0..<3).map { _ in try MemoryBackend() }
    let devices = try backends.enumerated().map { number, backend in
      try SyncClient(
        backend: backend, classes: [Song.self],
        transport: TwoServers(servers, "device \(number)"))
    }
    for device in devices { try await device.sync() }
    for round in 0..<6 {
      for (number, device) in devices.enumerated() {
        let store = try device.makeStore()
        let song = Song()
        song.title = "\(number) \(round)"
        store.insert(song)
        try store.saveChanges()
        if round % 2 == number % 2 { try await device.sync() }
      }
      try await servers[round % 2].container.write { store in
        let song = Song()
        song.title = "server \(round)"
        store.insert(song)
      }
    }
    for _ in 0..<2 {
      for device in devices { try await device.sync() }
    }
    let wanted = try Self.titles(database.backend())
    #expect(wanted.count == 24)
    for backend in backends { #expect(try Self.titles(backend) == wanted) }
  }

  private static func titles(_ backend: any StoreBackend) throws -> [String] {
    let store = Store(backend: backend)
    try store.register(Song.self)
    return try store.allObjects(of: Song.self).map { "\($0.id) \($0.title)" }.sorted()
  }
}

import Foundation
import KeyValueStoreCore
import Locks
import PostgreSQLBackend
import StoreEngine
import StoredObjectsCore
import StoredObjectsEncryption
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
      let parts = SharedLock<[UInt8]>([])
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

  private static func value(_ count: Int, _ seed: UInt8) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) ^ seed }
  }

  @Test(
    "Values outside of records come through servers on two machines, encrypted stores too",
    arguments: TestDatabase.keys)
  func values(_ key: EncryptionKey?) async throws {
    let database = try TestDatabase(key: key)
    let servers = try (0..<2).map { _ in
      try SyncServer(StoreContainer(backend: database.backend(), classes: [Recording.self]))
    }
    let backends = try (0..<3).map { _ in try MemoryBackend() }
    // Two devices stay with one server each. The requests of the third reach both in turns, so its
    // values are sent as one part.
    let devices = try backends.enumerated().map { number, backend in
      var configuration = SyncConfiguration()
      if number < 2 { configuration.requestByteCount = 1 << 16 }
      return try SyncClient(
        backend: backend, classes: [Recording.self],
        transport: TwoServers(number < 2 ? [servers[number]] : servers, "device \(number)"),
        configuration: configuration)
    }
    for device in devices { try await device.sync() }
    for (number, device) in devices.enumerated() {
      let store = try device.makeStore()
      let recording = Recording()
      recording.title = "\(number)"
      recording.audio = ExternalData(Self.value(200_000 + number, UInt8(number)))
      store.insert(recording)
      try store.saveChanges()
    }
    for _ in 0..<2 {
      for device in devices { try await device.sync() }
    }
    let another = try database.backend()
    let all: [any StoreBackend] = backends + [another]
    for backend in all {
      let store = Store(backend: backend)
      try store.register(Recording.self)
      let recordings = try store.allObjects(of: Recording.self)
      #expect(recordings.count == 3)
      for recording in recordings {
        let number = try #require(Int(recording.title))
        #expect(try recording.audio.bytes() == Self.value(200_000 + number, UInt8(number)))
      }
    }
    // Nothing is left that no object refers to.
    #expect(try another.externalStorage?.list().count == 3)
  }

  @Test(
    "Items of key-value stores come through servers on two machines, encrypted stores too",
    arguments: TestDatabase.keys)
  func items(_ key: EncryptionKey?) async throws {
    let database = try TestDatabase(key: key)
    let machines = try (0..<2).map { _ in try database.backend() }
    let servers = try machines.map { backend in
      try SyncServer(StoreContainer(backend: backend, classes: [Song.self]))
    }
    let programs = try machines.map { try KeyValueStore(backend: $0) }
    var configuration = SyncConfiguration()
    configuration.decideItem = { _ in .theirs }
    let backends = try (0..<3).map { _ in try MemoryBackend() }
    let devices = try backends.enumerated().map { number, backend in
      try SyncClient(
        backend: backend, classes: [Song.self],
        transport: TwoServers(servers, "device \(number)"), configuration: configuration)
    }
    let stores = try backends.map { try KeyValueStore(backend: $0) }
    for device in devices { try await device.sync() }
    for round in 0..<4 {
      for (number, store) in stores.enumerated() {
        let own = try await store.createTable("of \(number)")
        try await own.put("\(round)", for: "round \(round)")
        try await store.createTable("shared").put("\(number) \(round)", for: "round \(round)")
        if round == 2 { try await own.delete("round 1") }
        if (round + number) % 2 == 0 { try await devices[number].sync() }
      }
      let program = try await programs[round % 2].createTable("of the server \(round % 2)")
      try await program.put("\(round)", for: "round \(round)")
    }
    for _ in 0..<2 {
      for device in devices { try await device.sync() }
    }
    let wanted = try Self.items(programs[0])
    #expect(wanted.count == 17)
    for store in stores + programs { #expect(try Self.items(store) == wanted) }
    #expect(try Self.items(KeyValueStore(backend: database.backend())) == wanted)
  }

  private static func items(_ store: KeyValueStore) throws -> [String] {
    try store.tableNames().flatMap { name in
      try store.table(name).all.items().map { "\(name) \($0.key) \($0.value) \($0.updatedAt)" }
    }
  }

  private static func titles(_ backend: any StoreBackend) throws -> [String] {
    let store = Store(backend: backend)
    try store.register(Song.self)
    return try store.allObjects(of: Song.self).map { "\($0.id) \($0.title)" }.sorted()
  }
}

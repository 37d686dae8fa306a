#if Macros
  import KeyValueStoreCore
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsSync
  import StoredObjectsTestSupport
  import TestFiles
  import TestedBackends
  import Testing

  @Suite("Devices that put items at random")
  struct RandomItemTests {
    @Test("All of them end with the same items, and the conflicts are those that a model predicts")
    func prediction() async throws {
      var generator = Seeds.generator(for: "conflicts of items that a model predicts")
      let network = try SyncNetwork()
      let server = try KeyValueStore(backend: network.backend)
      let devices = try (1...4).map { try RandomItemDevice($0, network, &generator) }
      for device in devices { try await device.item.sync() }
      for round in 0..<60 {
        for device in devices.shuffled(using: &generator) {
          for step in 0..<Int.random(in: 0...3, using: &generator) {
            try device.edit("\(round) \(step)")
          }
          if Int.random(in: 0..<3, using: &generator) == 0 {
            try await device.syncAsPredicted(server, network)
          }
        }
      }
      for _ in 0..<2 {
        for device in devices { try await device.syncAsPredicted(server, network) }
      }
      for device in devices { #expect(try items(device.item.store) == items(server)) }
      #expect(devices.contains { $0.conflictCount > 0 })
    }

    @Test(
      "With a bad network and kills, nothing that was put under a key of its own is lost",
      arguments: [TestedBackend.cdb, .encryptedTokyoCabinet])
    func faults(_ kind: TestedBackend) async throws {
      try await withTemporaryDirectory { folder in
        var generator = Seeds.generator(for: "items and a bad network, \(kind)")
        let network = try SyncNetwork(kind.open(folder + "/server"))
        let server = try KeyValueStore(backend: network.backend)
        func open(_ number: Int) throws -> any StoreBackend {
          try kind.open(folder + "/\(number)")
        }
        var devices = try (0..<3).map {
          try RandomItemDevice($0, network, &generator, open($0))
        }
        for device in devices { try await device.item.sync() }
        for device in devices {
          // Some seeds put none of these later.
          try device.putOwn("first")
          device.makeFaults()
        }
        for round in 0..<25 {
          for number in devices.indices {
            try devices[number].edit("\(round)")
            if round % 2 == 0 { try devices[number].editSong() }
            switch Int.random(in: 0..<6, using: &generator) {
            case 0..<3: _ = try? await devices[number].item.sync()
            case 3:
              let old = devices[number]
              try old.item.store.close()
              devices[number] = try RandomItemDevice(number, network, &generator, open(number))
              devices[number].ownKeys = old.ownKeys
              devices[number].makeFaults()
            default: break
            }
          }
        }
        for device in devices { device.item.device.transport.fault.withLock { $0 = { .none } } }
        for _ in 0..<2 {
          for device in devices { try await device.item.sync() }
        }
        let own = try server.table("own")
        for device in devices {
          #expect(try items(device.item.store) == items(server))
          #expect(try contents(device.item.device.backend) == contents(network.backend))
          for key in device.ownKeys { #expect(try own.contains(key)) }
        }
      }
    }
  }

  /// A device that puts, deletes, and drops at random.
  private final class RandomItemDevice {
    let item: ItemDevice
    private let number: Int
    private var generator: SeededGenerator
    private(set) var conflictCount = 0
    /// The keys that only this device has put.
    var ownKeys: [String] = []

    init(
      _ number: Int, _ network: SyncNetwork, _ random: inout SeededGenerator,
      _ backend: (any StoreBackend)? = nil
    ) throws {
      self.number = number
      generator = SeededGenerator(seed: random.next())
      item = try ItemDevice("\(number)", network, backend) { conflict in
        // Any rule will do that the model knows, too.
        RandomItemDevice.isMine(conflict.key) ? .mine : .theirs
      }
    }

    static func isMine(_ key: String) -> Bool { key.utf8.last.map { $0 % 2 == 0 } ?? false }

    func makeFaults() {
      let random = SharedLock(SeededGenerator(seed: generator.next()))
      item.device.transport.fault.withLock {
        $0 = {
          random.withLock { generator in
            [.none, .none, .none, .lostRequest, .lostAnswer, .cutAnswer, .sentTwice]
              .randomElement(using: &generator) ?? .none
          }
        }
      }
    }

    /// Puts a key that no other device has.
    func putOwn(_ mark: String) throws {
      ownKeys.append("\(number) \(mark)")
      try item.put(mark, "\(number) \(mark)", in: "own")
    }

    func edit(_ mark: String) throws {
      let table = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
      let key = "\(Int.random(in: 0..<8, using: &generator))"
      switch Int.random(in: 0..<12, using: &generator) {
      case 0..<6: try item.put("\(number) \(mark)", key, in: table)
      case 6, 7: try item.put(nil, key, in: table)
      case 8: try item.put("same", key, in: table)
      case 9: try putOwn(mark)
      case 10: try item.store.createTable(table).removeAll()
      default: try item.store.dropTable(table)
      }
    }

    /// Inserts or changes an object, so that pending commits are merged.
    func editSong() throws {
      let store = try item.device.store()
      let songs = try store.allObjects(of: Song.self)
      if songs.count < 4 {
        store.insert(Song())
      } else if let song = songs.randomElement(using: &generator) {
        song.seconds = Int.random(in: 0..<100, using: &generator)
      }
      try store.saveChanges()
    }

    /// Synchronizes, and compares the conflicts and the result with those that a model predicts.
    func syncAsPredicted(_ server: KeyValueStore, _ network: SyncNetwork) async throws {
      let position = try #require(try await item.device.client.serverCommitNumber)
      let earlier = try KeyValueStore(backend: network.backend.snapshot(asOf: position))
      let (base, mine, theirs) = (
        try Self.values(earlier), try Self.values(item.store), try Self.values(server)
      )
      var (wanted, conflicts) = (theirs, [String]())
      for place in Set(base.keys).union(mine.keys).union(theirs.keys) {
        let (old, here, there) = (base[place], mine[place], theirs[place])
        if here == old || here == there { continue }
        var isMine = true
        if there != old {
          conflicts.append("\(place): \(old ?? "-") > \(here ?? "-") | \(there ?? "-")")
          isMine = Self.isMine(place)
        }
        if isMine { wanted[place] = here }
      }
      item.asked.withLock { $0 = [] }
      let report = try await item.sync()
      #expect(item.asked.withLock { $0 }.sorted() == conflicts.sorted())
      #expect(report.conflicts == conflicts.count)
      #expect(try Self.values(server) == wanted)
      conflictCount += conflicts.count
    }

    private static func values(_ store: KeyValueStore) throws -> [String: String] {
      var values: [String: String] = [:]
      for name in store.tableNames() {
        for item in try store.table(name).all.items() {
          values["\(name)/\(item.key)"] = try item.decoded(as: String.self)
        }
      }
      return values
    }
  }
#endif

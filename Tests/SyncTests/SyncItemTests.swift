#if Macros
  import Foundation
  import KeyValueStoreCore
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import TestFiles
  import TestedBackends
  import Testing

  @testable import StoredObjectsSync

  @Suite("Two-way sync of key-value stores")
  struct SyncItemTests {
    @Test("Items that a device puts and deletes come to the server and to other devices")
    func bothWays() async throws {
      let network = try SyncNetwork()
      let server = try KeyValueStore(backend: network.backend)
      let (ann, bob) = (try ItemDevice("Ann", network), try ItemDevice("Bob", network))
      try await ann.sync()
      try await bob.sync()
      let notes = try await ann.store.createTable("notes")
      try await notes.put("milk", for: "monday")
      try await notes.put(["bread", "salt"], for: "tuesday", expiresAfter: .seconds(3600))
      try await notes.put("", for: "")
      try await ann.store.createTable("empty")
      #expect(try await ann.device.client.pendingCount == 5)
      #expect(try await ann.sync() == SyncReport(sent: 5))
      #expect(try await bob.sync() == SyncReport(received: 5))
      #expect(try items(server) == items(ann.store))
      #expect(try items(bob.store) == items(ann.store))
      #expect(try items(bob.store).count == 5)

      // Handles that the device has are those of its tables.
      let bobs = try bob.store.table("notes")
      try await bobs.delete("monday")
      try await bobs.put("water", for: "tuesday")
      try await bob.store.dropTable("empty")
      try await bob.sync()
      #expect(try await ann.sync() == SyncReport(received: 3))
      #expect(try notes.get("tuesday", as: String.self) == "water")
      #expect(!ann.store.hasTable("empty") && !server.hasTable("empty"))
      #expect(try items(ann.store) == items(bob.store))
      #expect(try items(server) == items(bob.store))
      #expect(try await ann.sync() == SyncReport())
    }

    @Test("The server's program puts items, and a device that begins later has all of them")
    func serverProgram() async throws {
      let network = try SyncNetwork()
      let server = try KeyValueStore(backend: network.backend)
      try await server.createTable("first").put(1, for: "one")
      let ann = try ItemDevice("Ann", network)
      try await ann.sync()
      #expect(try items(ann.store) == items(server))
      try await server.dropTable("first")
      // Its number belongs to another table now.
      try await server.createTable("second").put(2, for: "two")
      try ann.put("three", "three", in: "third")
      #expect(try await ann.sync() == SyncReport(received: 3, sent: 2))
      #expect(try items(ann.store) == items(server))
      #expect(ann.store.tableNames() == ["second", "third"])
      try await server.table("third").put("four", for: "four")
      try await ann.sync()
      #expect(try ann.get("four", in: "third") == "four")
      let late = try ItemDevice("Late", network)
      try await late.sync()
      #expect(try items(late.store) == items(server))
    }

    @Test(
      "Devices that make tables without a network keep them apart, and share those of one name",
      arguments: [TestedBackend.tokyoCabinet, .cdb, .encryptedTokyoCabinet, .encryptedCDB])
    func numbers(_ kind: TestedBackend) async throws {
      try await withTemporaryDirectory { folder in
        let network = try SyncNetwork(kind.open(folder + "/server"))
        let names = ["Ann", "Bob", "Cid"]
        var devices = try names.map { name in
          try ItemDevice(name, network, kind.open(folder + "/" + name))
        }
        for device in devices { try await device.sync() }
        for (device, name) in zip(devices, names) {
          // Each table has another number on each device.
          for table in [name, "shared", "é\(name)"] { try device.put(name, name, in: table) }
        }
        for device in devices + devices { try await device.sync() }
        // The tables are those of the files, too.
        for (index, name) in names.enumerated() {
          try devices[index].store.close()
          devices[index] = try ItemDevice(name, network, kind.open(folder + "/" + name))
        }
        let wanted = try items(devices[0].store)
        #expect(wanted.count == 7 + 9)
        for device in devices { #expect(try items(device.store) == wanted) }
        #expect(try items(KeyValueStore(backend: network.backend)) == wanted)
        try devices[1].put(nil, "Ann", in: "Ann")
        try devices[1].put("new", "Cid", in: "éCid")
        for device in devices + devices { try await device.sync() }
        #expect(try devices[0].get("Ann", in: "Ann") == nil)
        #expect(try devices[2].get("Cid", in: "éCid") == "new")
      }
    }

    @Test("Observers of a key-value store get the changes that a sync brings")
    func observers() async throws {
      let (_, ann, bob) = try await itemPair()
      var all = ann.store.changes().makeAsyncIterator()
      try bob.put("second", "a")
      try bob.put(nil, "b")
      try bob.put("x", "x", in: "new")
      try await bob.store.dropTable("notes")
      try await bob.sync()
      try await ann.sync()
      var found: [String] = []
      for _ in 0..<6 {
        let change = await all.next()
        found.append(
          change.map { "\($0.kind) \($0.table) \($0.key ?? "")" } ?? "the stream has ended")
      }
      #expect(
        found.sorted() == [
          "created new ", "deleted notes a", "deleted notes b", "deleted notes c",
          "dropped notes ", "put new x",
        ])
    }

    @Test("Items and objects of one device keep their order, also when objects are merged")
    func withObjects() async throws {
      let (network, ann, bob) = try await itemPair()
      let store = try ann.device.store()
      let song = Song()
      store.insert(song)
      try store.saveChanges()
      try await ann.sync()
      try await bob.sync()
      let other = try bob.device.store()
      let same = try #require(try other.allObjects(of: Song.self).first)
      (same.title, same.seconds) = ("Bob's", 1)
      try other.saveChanges()
      try bob.put("Bob's", "a")
      try await bob.sync()
      song.title = "Ann's"
      try store.saveChanges()
      try ann.put("Ann's", "b")
      try ann.put("new", "x", in: "more")
      let report = try await ann.sync()
      // The pending commits have become one.
      #expect(report.sent == 1 && report.conflicts == 1)
      try await bob.sync()
      for device in [ann, bob] {
        #expect(try device.get("a") == "Bob's")
        #expect(try device.get("b") == "Ann's")
        #expect(try device.get("x", in: "more") == "new")
        #expect(try contents(device.device.backend) == contents(network.backend))
      }
    }

    @Test(
      "A lost answer makes no change twice",
      arguments: [LocalTransport.Fault.lostAnswer, .cutAnswer, .sentTwice])
    func lostAnswers(_ fault: LocalTransport.Fault) async throws {
      let (_, ann, bob) = try await itemPair()
      try ann.put("second", "a")
      try ann.put("x", "x", in: "new")
      try ann.put(nil, "b")
      let requests = SharedLock(0)
      ann.device.transport.fault.withLock {
        $0 = {
          requests.withLock { count in
            count += 1
            return count == 2 ? fault : .none
          }
        }
      }
      _ = try? await ann.sync()
      try bob.put("Bob's", "c")
      try await bob.sync()
      try await ann.sync()
      try await bob.sync()
      #expect(try items(ann.store) == items(bob.store))
      #expect(try ann.get("a") == "second")
      #expect(try ann.get("b") == nil)
      #expect(try ann.get("c") == "Bob's")
      #expect(try ann.get("x", in: "new") == "x")
      #expect(ann.asked.withLock { $0 }.isEmpty && bob.asked.withLock { $0 }.isEmpty)
    }

    @Test("A key-value store that writes during syncs loses no write, and neither does the sync")
    func writesMeanwhile() async throws {
      let (network, ann, bob) = try await itemPair { _ in .theirs }
      let store = ann.store
      let threads = try await withThrowingTaskGroup(of: Void.self) { group in
        for thread in 0..<3 {
          group.addTask {
            let table = try await store.createTable("table \(thread)")
            for number in 0..<60 {
              try await table.put(number, for: "\(number)")
              if number % 3 == 2 { try await table.delete("\(number - 1)") }
              // Both sides make tables, whose numbers must differ.
              try await store.createTable("\(thread) \(number)").put(thread, for: "\(number)")
              // Both sides put new keys into one table.
              try await store.table("notes").put(number, for: "\(thread) \(number)")
            }
          }
        }
        for number in 0..<15 {
          try bob.put("\(number)", "bob \(number)")
          try bob.put("\(number)", "bob", in: "new \(number)")
          try await bob.sync()
          try await ann.sync()
        }
        try await group.waitForAll()
        return 3
      }
      for device in [ann, bob, ann] { try await device.sync() }
      let server = try KeyValueStore(backend: network.backend)
      #expect(try items(ann.store) == items(server))
      #expect(try items(bob.store) == items(server))
      for thread in 0..<threads {
        #expect(try server.table("table \(thread)").count() == 40)
        for number in 0..<60 {
          #expect(try server.table("\(thread) \(number)").all.keys() == ["\(number)"])
        }
      }
      #expect(try server.table("notes").count() == 3 + 3 * 60 + 15)
    }

    @Test("A device that is opened again sends what it has put before")
    func reopening() async throws {
      let network = try SyncNetwork()
      let disk = MemoryDisk()
      for round in 0..<3 {
        let device = try ItemDevice("Ann", network, MemoryBackend(disk: disk))
        if round == 0 { try await device.sync() }
        try device.put("\(round)", "\(round)", in: "table \(round)")
        if round == 1 {
          device.device.transport.fault.withLock { $0 = { .lostRequest } }
          await #expect(throws: LocalTransport.Lost.self) { try await device.sync() }
        }
        try device.store.close()
      }
      let device = try ItemDevice("Ann", network, MemoryBackend(disk: disk))
      try await device.sync()
      #expect(try items(KeyValueStore(backend: network.backend)) == items(device.store))
      #expect(device.store.tableNames() == ["table 0", "table 1", "table 2"])
    }

    @Test("Tables that stay on the device are neither sent nor changed by the server")
    func localTables() async throws {
      let network = try SyncNetwork()
      let ann = try ItemDevice("Ann", network, local: ["settings"])
      let bob = try ItemDevice("Bob", network)
      try await ann.sync()
      try await bob.sync()
      try ann.put("Ann's", "font", in: "settings")
      try ann.put("Ann's", "note")
      try bob.put("Bob's", "font", in: "settings")
      try await ann.sync()
      try await bob.sync()
      try await ann.sync()
      #expect(try ann.get("font", in: "settings") == "Ann's")
      #expect(try bob.get("font", in: "settings") == "Bob's")
      #expect(try bob.get("note") == "Ann's")
    }

    @Test("A device of an earlier program keeps its items to itself")
    func earlierState() async throws {
      let (network, ann, bob) = try await itemPair()
      let state = try #require(try bob.device.backend.syncState())
      var changes = ChangeSet()
      changes.set(
        SyncState(position: state.position, localNumber: state.localNumber + 1, hasItems: false),
        in: try bob.device.backend.orderedTable(SyncTable.name))
      try bob.device.backend.commit(changes)
      try ann.put("Ann's", "a")
      try bob.put("Bob's", "b")
      try await ann.sync()
      try await bob.sync()
      #expect(try bob.get("a") == "first")
      #expect(try bob.get("b") == "Bob's")
      #expect(try await bob.device.client.pendingCount == 0)
      #expect(try bob.device.backend.syncState()?.hasItems == false)
      let server = try KeyValueStore(backend: network.backend)
      #expect(try server.table("notes").get("b", as: String.self) == "first")
    }
  }
#endif

#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsTestSupport
  import TestFiles
  import TestedBackends
  import Testing

  @testable import StoredObjectsSync

  @Suite("Values outside of records that are synchronized")
  struct SyncValueTests {
    @discardableResult
    private func insert(_ title: String, _ audio: [UInt8], _ device: Device) throws -> Recording {
      let store = try device.store()
      let recording = Recording()
      (recording.title, recording.audio) = (title, ExternalData(audio))
      store.insert(recording)
      try store.saveChanges()
      return recording
    }

    private func change(
      _ backend: any StoreBackend, _ edit: (Recording, Store) throws -> Void
    ) throws {
      let store = try Store.ofSync(backend)
      try edit(try #require(try store.allObjects(of: Recording.self).first), store)
      try store.saveChanges()
    }

    private func audio(_ backend: any StoreBackend) throws -> [UInt8]? {
      try Store.ofSync(backend).allObjects(of: Recording.self).first?.audio.bytes()
    }

    private func checkStrays(_ network: SyncNetwork, _ devices: Device...) async throws {
      await network.server.expireWaiting(at: .now + .seconds(4000))
      #expect(try network.backend.values().strays.isEmpty)
      for device in devices { #expect(try device.backend.values().strays.isEmpty) }
    }

    private static var smallParts: SyncConfiguration {
      var configuration = SyncConfiguration()
      configuration.requestByteCount = 1 << 16
      return configuration
    }

    @Test("A value arrives with its object, at devices that are new and at those that are not")
    func bothWays() async throws {
      let network = try SyncNetwork()
      let (ann, bob) = (try network.device("Ann"), try network.device("Bob"))
      try await ann.sync()
      try await bob.sync()
      try insert("Sunshine", noise(200_000, 1), ann)
      #expect(try await ann.sync() == SyncReport(sent: 1))
      #expect(try audio(network.backend) == noise(200_000, 1))
      #expect(try await bob.sync() == SyncReport(received: 1))
      #expect(try audio(bob.backend) == noise(200_000, 1))
      #expect(try bob.backend.values().all == ann.backend.values().all)

      // A value that is shared is not sent again.
      try change(bob.backend) { recording, store in
        let copy = Recording()
        (copy.title, copy.audio) = ("copy", recording.audio)
        store.insert(copy)
      }
      let before = bob.transport.traffic.withLock(\.sent)
      try await bob.sync()
      #expect(bob.transport.traffic.withLock(\.sent) - before < 10_000)
      let eve = try network.device("Eve")
      try await eve.sync()
      try await ann.sync()
      for device in [ann, bob, eve] {
        #expect(try contents(device.backend) == contents(network.backend))
        #expect(try device.backend.values().all.count == 1)
      }
      try await checkStrays(network, ann, bob, eve)
    }

    @Test("A large value is sent in parts that are as small as the configuration says")
    func large() async throws {
      let network = try SyncNetwork()
      let ann = try network.device("Ann", configuration: Self.smallParts)
      let bob = try network.device("Bob", configuration: Self.smallParts)
      try await ann.sync()
      try await bob.sync()
      let value = noise(20 << 20 | 123, 2)
      try insert("long", value, ann)
      try await ann.sync()
      try await bob.sync()
      #expect(try audio(bob.backend) == value)
      for traffic in [ann, bob].map({ $0.transport.traffic.withLock(\.self) }) {
        #expect(traffic.largestRequest < 70_000 && traffic.largestAnswer < 70_000)
        #expect(traffic.requestCount > 320)
      }
      // As much as the value, and hardly more.
      #expect(ann.transport.traffic.withLock(\.sent) < value.count + 100_000)
      #expect(bob.transport.traffic.withLock(\.received) < value.count + 100_000)
    }

    @Test(
      "A line that is cut again and again continues a value where it was, and shows no half of it",
      arguments: [LocalTransport.Fault.lostRequest, .lostAnswer, .cutAnswer])
    func cuts(_ fault: LocalTransport.Fault) async throws {
      let network = try SyncNetwork()
      let ann = try network.device("Ann", configuration: Self.smallParts)
      let bob = try network.device("Bob", configuration: Self.smallParts)
      let eve = try network.device("Eve", configuration: Self.smallParts)
      try await ann.sync()
      try await bob.sync()
      let value = noise(5_000_000, 3)
      try insert("long", value, ann)
      for device in [ann, bob, eve] {
        let count = SharedLock(0)
        device.transport.fault.withLock {
          $0 = {
            count.withLock { count in
              count += 1
              return count % 11 == 0 ? fault : .none
            }
          }
        }
        var failures = 0
        while true {
          do {
            try await device.sync()
            break
          } catch {
            failures += 1
            try #require(failures < 100)
            // No reader sees a reference without its value. A new device has no store yet.
            if device === eve {
              #expect(throws: StoreError.self) { try device.store() }
            } else {
              let seen = try contents(device === ann ? network.backend : device.backend)
              #expect(seen.isEmpty)
            }
          }
        }
        #expect(failures > 3)
        let traffic = device.transport.traffic.withLock(\.self)
        #expect(traffic.sent + traffic.received < 7_000_000)
      }
      for device in [ann, bob, eve] {
        #expect(try audio(device.backend) == value)
        #expect(try contents(device.backend) == contents(network.backend))
      }
      try await checkStrays(network, ann, bob, eve)
    }

    @Test("A value that is replaced or deleted is removed with the history that has it")
    func dropped() async throws {
      let network = try SyncNetwork()
      let (ann, bob) = (try network.device("Ann"), try network.device("Bob"))
      try await ann.sync()
      try insert("a", noise(100_000, 1), ann)
      try await ann.sync()
      try await bob.sync()
      try change(bob.backend) { recording, _ in recording.audio = ExternalData(noise(90_000, 2)) }
      try await bob.sync()
      try await ann.sync()
      #expect(try audio(ann.backend) == noise(90_000, 2))
      try change(ann.backend) { recording, store in store.delete(recording) }
      try await ann.sync()
      try await bob.sync()
      for backend in [network.backend, ann.backend, bob.backend] {
        #expect(try contents(backend).isEmpty)
        try backend.purgeHistory(
          keeping: HistoryRetention(byteCount: 0, waitsForConsumers: false))
        #expect(try backend.values().all.isEmpty)
      }
    }

    @Test(
      "Two values of one property are a conflict, and the one that is not taken is not kept",
      arguments: [true, false])
    func conflicts(_ isMine: Bool) async throws {
      let network = try SyncNetwork()
      var configuration = SyncConfiguration()
      configuration.decide = { conflict in
        #expect(conflict.kind == .properties(["audio"]))
        return isMine ? .mine : .theirs
      }
      let ann = try network.device("Ann", configuration: configuration)
      let bob = try network.device("Bob")
      try await ann.sync()
      try insert("a", noise(1000, 0), ann)
      try await ann.sync()
      try await bob.sync()
      try change(bob.backend) { recording, _ in recording.audio = ExternalData(noise(70_000, 1)) }
      try change(ann.backend) { recording, _ in
        recording.audio = ExternalData(noise(80_000, 2))
        recording.cover = ExternalData(noise(500, 3))
      }
      try await bob.sync()
      #expect(try await ann.sync().conflicts == 1)
      try await bob.sync()
      for backend in [network.backend, ann.backend, bob.backend] {
        #expect(try audio(backend) == (isMine ? noise(80_000, 2) : noise(70_000, 1)))
        #expect(try contents(backend) == contents(network.backend))
      }
      try await checkStrays(network, ann, bob)
    }

    @Test("An object that was deleted here, and stays for others, returns with its value")
    func returns() async throws {
      let network = try SyncNetwork()
      var configuration = SyncConfiguration()
      configuration.decide = { _ in .theirs }
      let ann = try network.device("Ann", configuration: configuration)
      let bob = try network.device("Bob")
      try await ann.sync()
      try insert("a", noise(100_000, 1), ann)
      try await ann.sync()
      try await bob.sync()
      try change(ann.backend) { recording, store in store.delete(recording) }
      // The device no longer has the value.
      for id in try ann.backend.values().all { try ann.backend.externalStorage?.remove(id) }
      try change(bob.backend) { recording, _ in recording.title = "b" }
      try await bob.sync()
      try await ann.sync()
      #expect(try audio(ann.backend) == noise(100_000, 1))
      #expect(try contents(ann.backend) == contents(network.backend))
    }

    @Test(
      "Values of encrypted stores are encrypted on the device and on the server",
      arguments: [TestedBackend.tokyoCabinet, .encryptedTokyoCabinet, .encryptedCDB])
    func encrypted(_ kind: TestedBackend) async throws {
      try await withTemporaryDirectory { folder in
        let network = try SyncNetwork(kind.open(folder + "/server"))
        let (ann, bob) = (
          try network.device("Ann", kind.open(folder + "/ann")),
          try network.device("Bob", kind.open(folder + "/bob"))
        )
        try await ann.sync()
        try await bob.sync()
        let secret = Array("the words of the song".utf8)
        let value = [[UInt8]](repeating: secret, count: 10_000).flatMap(\.self)
        try insert("a", value, ann)
        try await ann.sync()
        try await bob.sync()
        #expect(try audio(bob.backend) == value)
        for name in ["server", "ann", "bob"] {
          let files = try FileManager.default.contentsOfDirectory(atPath: folder + "/" + name)
            .filter { $0.hasSuffix(".external") }
          #expect(files.count == 1)
          for file in files {
            let data = try Data(
              contentsOf: URL(fileURLWithPath: folder + "/" + name + "/" + file))
            #expect((data.range(of: Data(secret)) == nil) == kind.isEncrypted)
          }
        }
      }
    }

    @Test("A device of an earlier program keeps objects of classes that it does not know")
    func earlierProgram() async throws {
      let network = try SyncNetwork()
      let ann = try network.device("Ann")
      let disk = MemoryDisk()
      let old = try MemoryBackend(disk: disk)
      let bob = try network.device("Bob", old, classes: [Song.self, Artist.self, Playlist.self])
      try await ann.sync()
      try await bob.sync()
      try insert("a", noise(100_000, 1), ann)
      try insert("b", noise(100_000, 2), ann)
      try await ann.sync()
      try await bob.sync()
      try change(ann.backend) { recording, store in store.delete(recording) }
      try await ann.sync()
      try await bob.sync()
      old.close()
      let new = try MemoryBackend(disk: disk)
      #expect(try contents(new) == contents(ann.backend))
      #expect(try new.values().strays.isEmpty)
      let store = try Store.ofSync(new)
      let findings = try store.check().findings
      #expect(findings.isEmpty, "\(findings)")
    }

    @Test("A server of an earlier program refuses values that it would not find")
    func earlierServer() async throws {
      let network = try SyncNetwork(
        MemoryBackend(), classes: [Song.self, Artist.self, Playlist.self])
      let ann = try network.device("Ann")
      try await ann.sync()
      try insert("a", noise(100_000, 1), ann)
      let error = await #expect(throws: StoreError.self) { try await ann.sync() }
      #expect(error?.code == .notRegistered && error?.message.contains("server's program") == true)
      #expect(try await ann.client.pendingCount == 1)
      try await checkStrays(network, ann)
    }
  }
#endif

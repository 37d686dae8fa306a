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

  @Suite("Devices that edit at random")
  struct SyncConvergenceTests {
    /// The number of edits of each device; `./dev test sync` makes 10,000.
    private static let editCount =
      ProcessInfo.processInfo.environment["STOREDOBJECTS_SYNC_EDITS"].flatMap { Int($0) } ?? 300

    @Test("All of them end with the same objects, and none that was saved is lost")
    func convergence() async throws {
      let generator = Seeds.generator(for: "devices that edit at random")
      let devices = (1...5).map { number in
        let disk = MemoryDisk()
        return ("device \(number)", { try MemoryBackend(disk: disk) as any StoreBackend })
      }
      try await run(SyncNetwork(), devices, edits: Self.editCount, generator)
    }

    @Test(
      "So do devices with directories, encrypted ones too, and a server with one",
      arguments: [TestedBackend.tokyoCabinet, .cdb, .encryptedTokyoCabinet])
    func directories(_ kind: TestedBackend) async throws {
      let generator = Seeds.generator(for: "devices on disk that edit at random, \(kind)")
      try await withTemporaryDirectory { folder in
        let network = try SyncNetwork(kind.open(folder + "/server"))
        let devices = (1...3).map { number in
          let open = { () throws -> any StoreBackend in
            try kind.open(folder + "/device \(number)")
          }
          return ("device \(number)", open)
        }
        try await run(network, devices, edits: 50, generator)
      }
    }

    private func run(
      _ network: SyncNetwork, _ stores: [(String, () throws -> any StoreBackend)], edits: Int,
      _ first: SeededGenerator
    ) async throws {
      var generator = first
      var devices: [RandomDevice] = []
      for (id, open) in stores {
        devices.append(try RandomDevice(id, network, seed: generator.next(), open))
      }
      var round = 0
      while devices.contains(where: { $0.edits < edits }) {
        round += 1
        for device in devices.shuffled(using: &generator) {
          try device.edit(round)
          switch Int.random(in: 0..<10, using: &generator) {
          case 0..<3: await device.trySync()
          case 3: try device.kill()
          default: break
          }
        }
      }
      let cut = devices.reduce(0) { $0 + $1.cutValues }
      #expect(edits < 300 || cut > 0, "no value was cut")
      // Without faults everything comes together.
      for device in devices { device.heal() }
      for _ in 0..<2 {
        for device in devices { try await device.sync() }
      }
      let wanted = try contents(network.backend)
      await network.server.expireWaiting(at: .now + .seconds(4000))
      #expect(try network.backend.values().strays.isEmpty)
      for device in devices {
        #expect(try contents(device.backend) == wanted)
        #expect(try await device.device.client.pendingCount == 0)
        // A disk in memory is not cleaned up when it is opened after a kill.
        if device.backend is any DirectoryBackend {
          #expect(try device.backend.values().strays.isEmpty)
        }
      }
      let deleted = devices.reduce(into: Set<String>()) { $0.formUnion($1.deleted) }
      let store = try Store.ofSync(network.backend)
      let births = Set(try store.allObjects(of: Song.self).flatMap(\.notes))
      let lost = devices.reduce(into: Set<String>()) { $0.formUnion($1.born) }
        .subtracting(deleted).subtracting(births)
      #expect(lost.isEmpty)
      let codes = try store.allObjects(of: Song.self).compactMap(\.code)
      #expect(codes.count == Set(codes).count)
      for artist in try store.allObjects(of: Artist.self) {
        #expect(artist.songs.allSatisfy { $0.artist === artist })
      }
      #expect(devices.reduce(0) { $0 + $1.syncs } > round / 5)
    }
  }

  extension SyncClient {
    /// The number of values from the server that no commit refers to yet.
    fileprivate var incomingCount: Int { incoming.count }
  }

  /// A device that makes random edits, loses its network and is killed.
  final class RandomDevice {
    let id: String
    private let network: SyncNetwork
    private let open: () throws -> any StoreBackend
    private(set) var backend: any StoreBackend
    private(set) var device: Device
    private var store: Store?
    private var generator: SeededGenerator
    private var isHealed = false
    /// The marks of songs that were saved, and of those that were deleted.
    private(set) var born: Set<String> = []
    private(set) var deleted: Set<String> = []
    private(set) var syncs = 0
    /// The number of edits that were made, also of those whose save was refused.
    private(set) var edits = 0
    /// The number of syncs that failed while values were under way.
    private(set) var cutValues = 0
    /// The songs that there were when they were last enumerated, and later ones of this device.
    private var songs: [ObjectID<Song>] = []
    private var roundOfSongs = 0

    init(
      _ id: String, _ network: SyncNetwork, seed: UInt64,
      _ open: @escaping () throws -> any StoreBackend
    ) throws {
      (self.id, self.network, self.open) = (id, network, open)
      generator = SeededGenerator(seed: seed)
      backend = try open()
      device = try network.device(id, backend, configuration: Self.configuration)
      makeFaults()
    }

    /// A configuration that decides every conflict, and keeps deleted objects that were changed.
    private static var configuration: SyncConfiguration {
      var configuration = SyncConfiguration()
      configuration.rowsAhead = 2000
      // A large value takes several requests.
      configuration.requestByteCount = 1 << 16
      configuration.decide = { conflict in
        switch conflict.kind {
        case .properties: .theirs
        case .deletedHere, .restoredTwice: .theirs
        case .deletedElsewhere: .mine
        case .notUnique: .edit { object in (object as? Song)?.code = nil }
        }
      }
      return configuration
    }

    private func makeFaults() {
      let random = SharedLock(SeededGenerator(seed: generator.next()))
      device.transport.fault.withLock {
        $0 = {
          random.withLock { generator in
            // A sync with values makes many requests.
            Int.random(in: 0..<3, using: &generator) > 0
              ? .none
              : [.lostRequest, .lostAnswer, .cutAnswer, .sentTwice]
                .randomElement(using: &generator) ?? .none
          }
        }
      }
    }

    func heal() {
      isHealed = true
      device.transport.fault.withLock { $0 = { .none } }
    }

    func sync() async throws {
      try await device.sync()
      syncs += 1
    }

    func trySync() async {
      do {
        try await sync()
      } catch {
        if await device.client.incomingCount > 0 { cutValues += 1 }
        // A lost request says so; anything else is a fault of the library.
        let isLost = error is LocalTransport.Lost
        let isCut = (error as? StoreError).map { [.ioError, .damaged].contains($0.code) } ?? false
        #expect(isLost || isCut, "\(error)")
      }
    }

    /// Ends the process, and begins another one on the same disk.
    func kill() throws {
      store = nil
      if let memory = backend as? MemoryBackend { memory.close() }
      if let directory = backend as? any DirectoryBackend { try directory.close() }
      backend = try open()
      device = try network.device(id, backend, configuration: Self.configuration)
      if !isHealed { makeFaults() }
    }

    /// Makes one save of a few edits.
    func edit(_ round: Int) throws {
      guard let store = try? self.store ?? device.store() else { return }
      self.store = store
      store.mergeChanges()
      // Enumerating them for each edit would cost more than everything else.
      if songs.count < 100 || round >= roundOfSongs + 50 {
        songs = try store.allObjects(of: Song.self).map(\.id)
        roundOfSongs = round
      }
      var marks = Marks()
      for step in 0..<Int.random(in: 1...3, using: &generator) {
        try edit(store, "\(id) \(round) \(step)", &marks)
        edits += 1
      }
      do throws(StoreError) {
        try store.saveChanges()
        born.formUnion(marks.born)
        deleted.formUnion(marks.deleted)
      } catch {
        // Without a whole sync there are no row IDs.
        let isNew = error.code == .rowIDsExhausted && syncs == 0
        guard isNew || error.code == .notUnique || error.code == .conflict else { throw error }
        store.discardChanges()
      }
    }

    private struct Marks {
      var born: [String] = []
      var deleted: [String] = []
    }

    private func edit(_ store: Store, _ mark: String, _ marks: inout Marks) throws {
      let song = songs.randomElement(using: &generator).flatMap { try? store.object($0) }
      switch Int.random(in: 0..<15, using: &generator) {
      case 0..<3: insertSong(store, mark, &marks)
      case 3: song?.title = mark
      case 4: song?.seconds += 1
      case 5: song?.code = randomCode()
      case 6: if let song, songs.count > 5 { try delete(song, store, &marks) }
      case 7:
        if try store.count(of: Playlist.self) < 4 { store.insert(Playlist()) }
        if try store.count(of: Artist.self) < 4 { store.insert(Artist()) }
      case 12...14: try editRecording(store, mark)
      case 8: song?.artist = try store.allObjects(of: Artist.self).randomElement(using: &generator)
      default:
        let lists = try store.allObjects(of: Playlist.self)
        if let list = lists.randomElement(using: &generator) { change(list, song) }
      }
    }

    /// Inserts, changes or deletes an object with values outside of its record.
    private func editRecording(_ store: Store, _ mark: String) throws {
      let all = try store.allObjects(of: Recording.self)
      guard all.count > 3, let one = all.randomElement(using: &generator) else {
        let new = Recording()
        (new.title, new.audio) = (mark, randomValue())
        return store.insert(new)
      }
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: one.title = mark
      case 1: store.delete(one)
      case 2: one.cover = nil
      case 3: one.cover = all.randomElement(using: &generator)?.audio
      case 4: one.cover = randomValue()
      default: one.audio = randomValue()
      }
    }

    private func randomValue() -> ExternalData {
      let count = [0, 10, 100, 70_000, 200_000].randomElement(using: &generator) ?? 0
      return ExternalData(noise(count, Int.random(in: 0...1_000_000, using: &generator)))
    }

    private func randomCode() -> String { "\(Int.random(in: 0..<40, using: &generator))" }

    private func insertSong(_ store: Store, _ mark: String, _ marks: inout Marks) {
      let new = Song()
      (new.title, new.notes) = (mark, [mark])
      if Bool.random(using: &generator) { new.code = randomCode() }
      store.insert(new)
      songs.append(new.id)
      marks.born.append(mark)
    }

    private func delete(_ song: Song, _ store: Store, _ marks: inout Marks) throws {
      for list in try store.allObjects(of: Playlist.self) where list.songs.contains(song) {
        list.songs.removeAll { $0 === song }
      }
      song.artist = nil
      store.delete(song)
      marks.deleted += song.notes
    }

    private func change(_ list: Playlist, _ song: Song?) {
      if let song, Bool.random(using: &generator) {
        return list.songs.insert(song, at: Int.random(in: 0...list.songs.count, using: &generator))
      }
      guard let index = list.songs.indices.randomElement(using: &generator) else { return }
      let moved = list.songs.remove(at: index)
      if Int.random(in: 0..<3, using: &generator) > 0 {
        list.songs.insert(moved, at: Int.random(in: 0...list.songs.count, using: &generator))
      }
    }
  }
#endif

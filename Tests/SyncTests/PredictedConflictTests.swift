#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsSync
  import StoredObjectsTestSupport
  import Testing

  @Suite("Conflicts that a model predicts")
  struct PredictedConflictTests {
    /// The number of edits of each device; `./dev test sync` makes more.
    private static let editCount =
      ProcessInfo.processInfo.environment["STOREDOBJECTS_SYNC_EDITS"].flatMap { Int($0) }
      .map { $0 / 5 } ?? 150

    @Test("A sync reports exactly the conflicts that there are, each of the right kind")
    func conflicts() async throws {
      var generator = Seeds.generator(for: "conflicts that a model predicts")
      let network = try SyncNetwork()
      var devices: [PredictedDevice] = []
      for number in 1...4 {
        devices.append(
          try PredictedDevice("device \(number)", network, seed: generator.next()))
      }
      for device in devices { try await device.device.sync() }
      for _ in 0..<Self.editCount {
        for device in devices.shuffled(using: &generator) {
          for _ in 0..<Int.random(in: 0...2, using: &generator) { try device.edit() }
          if Int.random(in: 0..<4, using: &generator) == 0 { try await device.sync() }
        }
      }
      for _ in 0..<2 {
        for device in devices { try await device.sync() }
      }
      let wanted = try contents(network.backend)
      for device in devices { #expect(try contents(device.device.backend) == wanted) }
      let kinds = devices.reduce(into: Set<String>()) { $0.formUnion($1.kinds) }
      #expect(
        kinds == ["properties", "deletedHere", "deletedElsewhere", "notUnique"],
        "every kind occurs")
    }
  }

  /// The songs of a store, as a model of what a sync does with them.
  private struct Songs: Equatable {
    struct Song: Equatable {
      var title: String
      var seconds: Int
      var code: String?
    }
    var all: [UInt32: Song] = [:]

    init(_ backend: any StoreBackend) throws {
      let store = Store(backend: backend)
      try store.register(syncedClasses)
      for song in try store.allObjects(of: SyncedSong.self) {
        all[song.rowID] = Song(title: song.title, seconds: song.seconds, code: song.code)
      }
    }
  }

  private typealias SyncedSong = Song

  extension Songs.Song {
    /// The properties that both sides have given different values.
    fileprivate func conflicts(with theirs: Self, since base: Self) -> [String] {
      func differs<Value: Equatable>(_ property: KeyPath<Self, Value>) -> Bool {
        let (mine, theirs, base) = (
          self[keyPath: property], theirs[keyPath: property], base[keyPath: property]
        )
        return mine != base && theirs != base && mine != theirs
      }
      return (differs(\.title) ? ["title"] : []) + (differs(\.seconds) ? ["seconds"] : [])
        + (differs(\.code) ? ["code"] : [])
    }

    /// Both sides' changes, of which those of the other side count in a conflict.
    fileprivate func merged(with theirs: Self, since base: Self) -> Self {
      Self(
        title: theirs.title != base.title ? theirs.title : title,
        seconds: theirs.seconds != base.seconds ? theirs.seconds : seconds,
        code: theirs.code != base.code ? theirs.code : code)
    }
  }

  /// The conflicts of one sync, and what the songs become.
  private struct Prediction {
    private let base: Songs
    private var mine: Songs
    private let theirs: Songs
    /// The conflicts by row, without those of unique values.
    private(set) var conflicts: [UInt32: SyncConflict.Kind] = [:]
    private(set) var songs: [UInt32: Songs.Song] = [:]
    /// The rows that this device has changed.
    private(set) var own: Set<UInt32> = []

    init(base: Songs, mine: Songs, theirs: Songs) {
      (self.base, self.mine, self.theirs) = (base, mine, theirs)
      for row in Set(base.all.keys).union(mine.all.keys).union(theirs.all.keys) {
        if mine.all[row] != base.all[row] { own.insert(row) }
        predict(row)
      }
    }

    private mutating func predict(_ row: UInt32) {
      let (old, here, there) = (base.all[row], mine.all[row], theirs.all[row])
      (conflicts[row], songs[row]) = (nil, there)
      if here == old || here == there { return }
      if there == old { return songs[row] = here }
      switch (old, here, there) {
      case (_?, nil, _?): conflicts[row] = .deletedHere
      case (_?, let here?, nil): (conflicts[row], songs[row]) = (.deletedElsewhere, here)
      case (let old?, let here?, let there?):
        let properties = here.conflicts(with: there, since: old)
        if !properties.isEmpty { conflicts[row] = .properties(properties) }
        songs[row] = here.merged(with: there, since: old)
      default: Issue.record("row \(row) was given to two devices")
      }
    }

    /// Takes the code away that this device has given an object.
    ///
    /// If the other side has given it one, too, that one stays.
    mutating func clearCode(of row: UInt32) {
      mine.all[row]?.code = nil
      if conflicts[row] == .deletedElsewhere {
        // It was decided that the object stays, whatever it is.
        songs[row]?.code = nil
      } else {
        predict(row)
      }
    }

    /// The rows whose code another row has, too.
    var clashes: Set<UInt32> {
      var rows: [String: [UInt32]] = [:]
      for (row, song) in songs { if let code = song.code { rows[code, default: []].append(row) } }
      return Set(rows.values.filter { $0.count > 1 }.joined())
    }
  }

  /// A device whose conflicts are compared with a prediction.
  private final class PredictedDevice {
    let device: Device
    private let network: SyncNetwork
    private lazy var store = Result { try device.store() }
    private var generator: SeededGenerator
    private let asked: SharedLock<[SyncConflict]>
    /// The kinds of all conflicts.
    private(set) var kinds: Set<String> = []

    init(_ id: String, _ network: SyncNetwork, seed: UInt64) throws {
      self.network = network
      generator = SeededGenerator(seed: seed)
      let asked = SharedLock<[SyncConflict]>([])
      self.asked = asked
      var configuration = SyncConfiguration()
      configuration.rowsAhead = 2000
      configuration.decide = { conflict in
        asked.withLock { $0.append(conflict) }
        return switch conflict.kind {
        case .properties, .deletedHere, .restoredTwice: .theirs
        case .deletedElsewhere: .mine
        case .notUnique: .edit { object in (object as? Song)?.code = nil }
        }
      }
      device = try network.device(id, configuration: configuration)
    }

    // MARK: Edits

    func edit() throws {
      let store = try store.get()
      store.mergeChanges()
      let songs = try store.allObjects(of: Song.self)
      let song = songs.randomElement(using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0 where songs.count < 12, 1 where songs.count < 12: insert(store)
      case 2, 3: song?.title = "\(Int.random(in: 0..<1000, using: &generator))"
      case 4, 5: song?.seconds += Int.random(in: 0...2, using: &generator)
      case 6: if let song, songs.count > 4 { try delete(song, store) }
      case 7: try move(song, store)
      default: song?.code = code()
      }
      do throws(StoreError) {
        try store.saveChanges()
      } catch {
        guard error.code == .notUnique else { throw error }
        store.discardChanges()
      }
    }

    private func insert(_ store: Store) {
      let song = Song()
      (song.title, song.code) = (device.id, code())
      store.insert(song)
    }

    private func code() -> String? {
      Bool.random(using: &generator) ? nil : "\(Int.random(in: 0..<12, using: &generator))"
    }

    private func delete(_ song: Song, _ store: Store) throws {
      for list in try store.allObjects(of: Playlist.self) where list.songs.contains(song) {
        list.songs.removeAll { $0 === song }
      }
      store.delete(song)
    }

    /// Changes a list, which is never a conflict.
    private func move(_ song: Song?, _ store: Store) throws {
      let lists = try store.allObjects(of: Playlist.self)
      guard let list = lists.first else { return store.insert(Playlist()) }
      if let song { list.songs.insert(song, at: list.songs.count / 2) }
    }

    // MARK: Syncs

    func sync() async throws {
      let number = try #require(try await device.client.serverCommitNumber)
      var prediction = Prediction(
        base: try Songs(network.backend.snapshot(asOf: number)), mine: try Songs(device.backend),
        theirs: try Songs(network.backend))
      asked.withLock { $0 = [] }
      let report = try await device.sync()
      let conflicts = asked.withLock { $0 }
      let uniqueCount = compare(conflicts, &prediction)
      #expect(report.conflicts == prediction.conflicts.count + uniqueCount)
      #expect(try Songs(network.backend).all == prediction.songs)
    }

    /// Compares the conflicts of a sync with a prediction, one by one.
    ///
    /// Each attempt asks about properties again.
    ///
    /// - Returns: The number of conflicts of unique values.
    private func compare(_ conflicts: [SyncConflict], _ prediction: inout Prediction) -> Int {
      var (rows, uniqueCount) = (Set<UInt32>(), 0)
      for conflict in conflicts {
        let row = conflict.id.rowID
        #expect(conflict.id.className == "Song")
        kinds.insert("\(conflict.kind)".components(separatedBy: "(")[0])
        guard conflict.kind == .notUnique(property: "code") else {
          #expect(prediction.conflicts[row] == conflict.kind.inOrder)
          rows.insert(row)
          continue
        }
        uniqueCount += 1
        // The object of this device gives way.
        #expect(prediction.clashes.contains(row) && prediction.own.contains(row))
        prediction.clearCode(of: row)
      }
      #expect(rows.isSuperset(of: prediction.conflicts.keys))
      #expect(prediction.clashes.isEmpty)
      return uniqueCount
    }
  }

  extension SyncConflict.Kind {
    /// The same kind with its properties in the order of the model.
    fileprivate var inOrder: SyncConflict.Kind {
      guard case .properties(let names) = self else { return self }
      return .properties(["title", "seconds", "code"].filter(names.contains))
    }
  }
#endif

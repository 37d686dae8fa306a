import ArgumentParser
import Foundation
import PostgreSQLBackend
import StoredObjectsCore

/// One process that works on a store, and prints the time of each run in milliseconds.
struct Client: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Work on a store, and print the time of each run in milliseconds.",
    shouldDisplay: false)

  enum Workload: String, ExpressibleByArgument {
    case small, container, add, update, cold, clients, bulk, size, increments
  }

  /// The number of playlists in a graph, and of songs in each.
  static let (playlists, songs) = (10, 100)

  @Argument var url: String
  @Argument var store: String
  @Argument var workload: Workload
  @Argument var count: Int
  @Argument var start = 0.0
  @Option(help: "The number of threads of the clients, with a store each on one backend.")
  var threads = 1

  func run() throws {
    let backend = try PostgreSQLBackend(url, store: store)
    defer { backend.close() }
    let store = try open(backend)
    switch workload {
    case .small:
      try save(Song.new(), in: store)
      for _ in 0..<count { try printTime { try save(Song.new(), in: store) } }
    case .container: try saveInContainer(backend)
    case .increments: try increment(backend)
    case .clients: try saveOnThreads(store, backend)
    case .add: for _ in 0..<count { try printTime { _ = try add(to: store) } }
    case .update: try update(store)
    case .cold: try readCold(backend, store)
    case .bulk:
      try printTime {
        for _ in 0..<count { store.insert(Song.new()) }
        try store.saveChanges()
      }
    case .size:
      for _ in 0..<count / 10_000 {
        // A new store, so that the objects don't stay in memory.
        let store = try open(backend)
        for _ in 0..<10_000 { store.insert(Song.new()) }
        try store.saveChanges()
      }
    }
  }

  private func open(_ backend: PostgreSQLBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Song.self, Playlist.self)
    return store
  }

  private func printTime(_ body: () throws -> Void) throws {
    let start = ContinuousClock.now
    try body()
    print(start.duration(to: .now) / .milliseconds(1))
  }

  private func save(_ song: Song, in store: Store) throws {
    store.insert(song)
    try store.saveChanges()
  }

  /// Saves by a container, one object after the other, from a task.
  private func saveInContainer(_ backend: PostgreSQLBackend) throws {
    try runTask(backend) { container in
      try await container.write { $0.insert(Song.new()) }
      for _ in 0..<count {
        let start = ContinuousClock.now
        try await container.write { $0.insert(Song.new()) }
        print(start.duration(to: .now) / .milliseconds(1))
      }
    }
  }

  /// Increments the number of a song that other processes increment, too, and prints it at the end.
  private func increment(_ backend: PostgreSQLBackend) throws {
    try runTask(backend) { container in
      let id = try await container.write { store in
        let known = try store.allObjects(of: Song.self).first
        let song = known ?? Song()
        if known == nil { store.insert(song) }
        return song.id
      }
      for _ in 0..<count {
        var isMade = false
        while !isMade {
          do {
            try await container.write { store in try store.object(id)?.seconds += 1 }
            isMade = true
          } catch let error as StoreError where error.code == .conflict {}
        }
      }
      print(try await container.read { store in try store.object(id)?.seconds ?? 0 })
    }
  }

  private func runTask(
    _ backend: PostgreSQLBackend, _ body: @escaping @Sendable (StoreContainer) async throws -> Void
  ) throws {
    let container = try StoreContainer(backend: backend, classes: [Song.self, Playlist.self])
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
      do { try await body(container) } catch { fatalError("\(error)") }
      ended.signal()
    }
    ended.wait()
  }

  private func saveOnThreads(_ store: Store, _ backend: PostgreSQLBackend) throws {
    let others = (1..<threads).map { _ in
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do { try saveForSeconds(open(backend)) } catch { fatalError("\(error)") }
        ended.signal()
      }
      return ended
    }
    try saveForSeconds(store)
    for other in others { other.wait() }
  }

  private func saveForSeconds(_ store: Store) throws {
    // The first save writes the metadata of the class, which all clients would wait for.
    try save(Song.new(), in: store)
    while Date().timeIntervalSince1970 < start { usleep(1000) }
    while Date().timeIntervalSince1970 < start + Double(count) {
      try printTime { try save(Song.new(), in: store) }
    }
  }

  // MARK: The graph

  private func add(to store: Store) throws -> [Song] {
    var all: [Song] = []
    for _ in 0..<Self.playlists {
      let list = Playlist()
      list.title = "A playlist"
      let songs = (0..<Self.songs).map { _ in Song.new() }
      for song in songs { store.insert(song) }
      list.songs = ObjectList(songs)
      store.insert(list)
      all += songs
    }
    try store.saveChanges()
    return all
  }

  private func update(_ store: Store) throws {
    let songs = try add(to: store)
    for _ in 0..<count {
      try printTime {
        for song in songs { song.seconds += 1 }
        try store.saveChanges()
      }
    }
  }

  /// Reads all songs by walking the lists, in a store without anything in memory.
  private func readCold(_ backend: PostgreSQLBackend, _ store: Store) throws {
    if try store.count(of: Playlist.self) == 0 { _ = try add(to: store) }
    for _ in 0..<count {
      let empty = try open(backend)
      var (seconds, titles) = (0, 0)
      try printTime {
        for list in try empty.allObjects(of: Playlist.self) {
          for song in list.songs {
            seconds += Int(song.seconds)
            titles += song.title.utf8.count
          }
        }
      }
      let all = Self.playlists * Self.songs
      guard seconds == all * 200, titles == all * Song.longTitle.utf8.count else {
        throw ValidationError("The songs differ.")
      }
    }
  }
}

import ArgumentParser
import Foundation
import StoredObjectsCore
import StoredObjectsSync
import StoredObjectsTestSupport

/// The store of a server or of a device, which is folded often.
struct DeviceStore: ParsableArguments {
  @Argument var directory: String
  @Argument var socket: String
  @Option var backend = BackendName.tokyoCabinet

  func open() throws -> any CrashedBackend {
    try backend.open(
      directory, isReadOnly: false, limits: CheckpointLimits(logBytes: 60_000, filePart: 1 << 20))
  }
}

/// Answers devices until it is killed.
struct SyncServerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "sync-server", shouldDisplay: false)

  @OptionGroup var store: DeviceStore

  func run() throws {
    let container = try StoreContainer(backend: store.open(), classes: deviceClasses)
    let first = try container.makeStore()
    if try first.count(of: Shelf.self) == 0 {
      first.insert(Shelf())
      try first.saveChanges()
    }
    let server = try SocketServer(SyncServer(container), at: store.socket)
    ChildProcess.send(0)
    try server.answerAll()
  }
}

/// Edits and synchronizes until it is killed, or synchronizes only.
struct DeviceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "device", shouldDisplay: false)

  @OptionGroup var store: DeviceStore
  @Option var device: Int
  /// The number of this process, of which all entries have numbers of their own.
  @Option var process: Int
  @Option var seed: UInt64
  @Flag var onlySyncs = false

  func run() async throws {
    var configuration = SyncConfiguration()
    configuration.rowsAhead = 2000
    let client = try SyncClient(
      backend: store.open(), classes: deviceClasses,
      transport: SocketTransport(path: store.socket, device: Int32(device)),
      configuration: configuration)
    while try await !sync(client) { try await Task.sleep(for: .milliseconds(20)) }
    if onlySyncs { return }
    // Nobody has to synchronize before the entries can be edited.
    let syncing = Task {
      var generator = SeededGenerator(seed: seed &+ 1)
      while true {
        _ = try await sync(client)
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<40, using: &generator)))
      }
    }
    try await Task.detached {
      var work = try DeviceWork(client.makeStore(), self)
      while true {
        try work.step()
        usleep(1000)
      }
    }.value
    try await syncing.value
  }

  /// Synchronizes, and returns whether the server has answered.
  private func sync(_ client: SyncClient) async throws -> Bool {
    do {
      try await client.sync()
      return true
    } catch is SocketTransport.Lost {
      return false
    }
  }
}

/// The work of a process on the store of a device.
private struct DeviceWork {
  private let store: Store
  private let device: Int
  private let process: Int
  private var generator: SeededGenerator
  private var count = 0

  init(_ store: Store, _ command: DeviceCommand) {
    self.store = store
    (device, process) = (command.device, command.process)
    generator = SeededGenerator(seed: command.seed)
  }

  mutating func step() throws {
    store.mergeChanges()
    guard let shelf = try store.allObjects(of: Shelf.self).first else {
      throw HarnessError("the shelf is gone")
    }
    let own = try store.fetch(Entry.self, where: predicate)
    guard let entry = own.randomElement(using: &generator) else { return try insert(shelf) }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<3 where own.count < 300: try insert(shelf)
    case 0..<4: try delete(entry, shelf)
    case 4..<7: try move(entry, shelf)
    default: try edit(entry)
    }
  }

  private var predicate: Predicate<Entry> {
    let device = device
    return #Predicate { $0.device == device }
  }

  private mutating func place(_ list: ObjectList<Entry>) -> Int {
    Int.random(in: 0...list.count, using: &generator)
  }

  /// Saves, or discards the changes if the sync was faster.
  private func save(_ messages: [DeviceMessage]) throws {
    do throws(StoreError) {
      try store.saveChanges()
      for message in messages { message.send() }
    } catch {
      guard error.code == .conflict else { throw error }
      store.discardChanges()
    }
  }

  private mutating func insert(_ shelf: Shelf) throws {
    var messages: [DeviceMessage] = []
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      count += 1
      let entry = Entry()
      (entry.number, entry.device) = (process << 20 | count, device)
      store.insert(entry)
      shelf.entries.insert(entry, at: place(shelf.entries))
      messages.append(DeviceMessage(.inserted, entry))
    }
    try save(messages)
  }

  private func edit(_ entry: Entry) throws {
    entry.edits += 1
    try save([DeviceMessage(.edited, entry)])
  }

  private mutating func move(_ entry: Entry, _ shelf: Shelf) throws {
    guard let index = shelf.entries.firstIndex(where: { $0 === entry }) else {
      throw HarnessError("entry \(entry.number) is not on the shelf")
    }
    shelf.entries.remove(at: index)
    shelf.entries.insert(entry, at: place(shelf.entries))
    try save([])
  }

  private func delete(_ entry: Entry, _ shelf: Shelf) throws {
    let message = DeviceMessage(.deleted, entry)
    DeviceMessage(.willDelete, entry).send()
    shelf.entries.removeAll { $0 === entry }
    store.delete(entry)
    try save([message])
  }
}

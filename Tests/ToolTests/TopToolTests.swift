import Foundation
import ProgramTesting
import StoredObjectsCore
import Testing
import TokyoCabinetBackend

private final class WatchedSong: StoredObject {
  @Content var title = ""

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }
}

@Suite("stored-objects: top")
struct TopToolTests {
  private struct Look: Decodable {
    struct Class: Decodable {
      var name: String
      var objects: Int
      var change: Int
    }
    var commit: UInt64
    var commitsPerSecond: Double
    var objects: Int
    var saves: Saves?
    var lookUps: LookUps?
    var classes: [Class]

    struct LookUps: Decodable {
      var count: Int
      var hitPercentage: Double?
    }

    struct Saves: Decodable {
      var count: Int
      var medianMilliseconds: Double?
      var slowMilliseconds: Double?
    }
  }

  /// Opens the store that the command looks at.
  private func openStore(
    _ tool: ProgramDirectory, sharing: StoreSharing = .exclusive
  ) throws -> Store {
    var configuration = TokyoCabinetBackend.Configuration()
    configuration.sharing = sharing
    let store = Store(
      backend: try TokyoCabinetBackend(
        directory: tool.path("Music"), configuration: configuration))
    try store.register(WatchedSong.self)
    return store
  }

  /// Saves one object for each title, each in a commit of its own.
  private func save(_ titles: [String], in store: Store) throws {
    for title in titles {
      let song = WatchedSong()
      song.title = title
      store.insert(song)
      try store.saveChanges()
    }
  }

  /// Opens the store, saves objects, and closes it.
  private func save(
    _ titles: [String], in tool: ProgramDirectory, sharing: StoreSharing = .exclusive
  ) throws {
    let store = try openStore(tool, sharing: sharing)
    try save(titles, in: store)
    try store.backend.close()
  }

  /// Runs the command with a look before something is saved, and looks until they show it.
  private func looks(
    _ tool: ProgramDirectory, until isDone: ([Look]) -> Bool, save: () throws -> Void
  ) throws -> [Look] {
    let process = Process()
    process.executableURL = try ProgramDirectory.executable("stored-objects")
    process.arguments = ["top", "Music", "--interval", "0.1", "--json"]
    process.currentDirectoryURL = tool.folder
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    defer { process.waitUntilExit() }
    var (looks, line) = ([Look](), Data())
    while !isDone(looks), looks.count < 600 {
      guard let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty else {
        break
      }
      line += byte
      guard byte.first == 0x0A else { continue }
      looks.append(try JSONDecoder().decode(Look.self, from: line))
      line = Data()
      if looks.count == 1 { try save() }
    }
    process.interrupt()
    return looks
  }

  @Test("The looks show what a program saves meanwhile, which the command does not hinder")
  func looks() throws {
    try ProgramDirectory.run { tool in
      try save(["a"], in: tool)
      let looks = try looks(tool, until: { $0.last?.objects == 4 }) {
        try save(["b", "c", "d"], in: tool)
      }
      #expect(looks.first?.objects == 1 && looks.first?.commitsPerSecond == 0)
      #expect(looks.last?.objects == 4 && looks.last?.classes.map(\.name) == ["WatchedSong"])
      #expect(looks.reduce(0) { $0 + ($1.classes.first?.change ?? 0) } == 3)
      #expect(looks.contains { $0.commitsPerSecond > 0 })
      #expect(looks.last.map { $0.commit > looks[0].commit } == true)
    }
  }

  @Test("The looks have the saves and look-ups of a program that has the store for itself")
  func saveTimesOfOne() throws {
    try ProgramDirectory.run { tool in
      try save(["a"], in: tool)
      let idle = try tool.run("top", "Music", ["--count", "1", "--json"])
      #expect(try idle.json(Look.self).saves == nil)
      let store = try openStore(tool)
      let looks = try looks(tool, until: { $0.reduce(0) { $0 + ($1.saves?.count ?? 0) } >= 4 }) {
        // Reads the object, and finds it in memory.
        let song = try store.object(WatchedSong.self, rowID: 2)
        try #expect(store.object(WatchedSong.self, rowID: 2) === song)
        try save(["b", "c", "d", "e"], in: store)
      }
      try store.backend.close()
      #expect(looks[0].saves == nil && looks[0].lookUps == nil && looks.last?.saves != nil)
      let found = looks.compactMap(\.lookUps).filter { $0.count > 0 }
      #expect(found.map(\.count) == [2] && found.map(\.hitPercentage) == [50])
      let busy = try #require(looks.first { $0.saves?.medianMilliseconds != nil }?.saves)
      let (median, slow) = (busy.medianMilliseconds ?? 0, busy.slowMilliseconds ?? 0)
      #expect(busy.count > 0 && median > 0 && slow >= median)
    }
  }

  @Test("The looks have the times of saves of all programs that share the store")
  func saveTimes() throws {
    try ProgramDirectory.run { tool in
      try save(["a"], in: tool)
      let member = try openStore(tool, sharing: .processes)
      let looks = try looks(
        tool, until: { $0.reduce(0) { $0 + ($1.saves?.count ?? 0) } >= 4 }
      ) {
        try save(["b", "c", "d", "e"], in: tool, sharing: .processes)
      }
      try member.backend.close()
      let busy = try #require(looks.first { $0.saves?.count ?? 0 > 0 }?.saves)
      let (median, slow) = (busy.medianMilliseconds ?? 0, busy.slowMilliseconds ?? 0)
      #expect(looks[0].saves?.count == 0 && looks[0].saves?.medianMilliseconds == nil)
      #expect(median > 0 && slow >= median)
    }
  }

  @Test("Without a terminal, each look is a line of text")
  func lines() throws {
    try ProgramDirectory.run { tool in
      try save(["a"], in: tool)
      let run = try tool.run("top", "Music", ["--count", "2", "--interval", "0.1"])
      let lines = run.output.split(separator: "\n")
      #expect(run.status == 0 && lines.count == 2)
      #expect(lines.allSatisfy { $0.hasPrefix("Music  commit ") && $0.contains("  1 object  ") })
      let wrong = try tool.run("top", "Music", ["--interval", "0"])
      #expect(wrong.status == 64 && wrong.errors.contains("--interval must be from 0.1"))
    }
  }
}

import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TokyoCabinetBackend

/// Runs the tool as its users do, in a directory of its own.
struct ToolProcess {
  /// What a run of the tool has left.
  struct Run {
    var status: Int32
    var output: String
    var errors: String

    /// The output as JSON.
    func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      try JSONDecoder().decode(type, from: Data(output.utf8))
    }
  }

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("tool-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Runs a test in a directory that is removed afterwards.
  static func run(_ body: (ToolProcess) throws -> Void) throws {
    let tool = try ToolProcess()
    defer { try? FileManager.default.removeItem(at: tool.folder) }
    try body(tool)
  }

  /// The path of a file in the directory.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The names of all files below a directory.
  func contents(_ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }

  /// Runs a command in the directory, to its end.
  func run(_ arguments: String...) throws -> Run { try run("stored-objects", arguments) }

  /// Runs a command on a store, with options.
  func run(_ command: String, _ store: String, _ options: [String]) throws -> Run {
    try run("stored-objects", [command, store] + options)
  }

  /// Runs another program of the package in the directory.
  func run(_ program: String, _ arguments: [String]) throws -> Run {
    let process = Process()
    process.executableURL = try Self.executable(program)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let names = (path(".out-\(UUID().uuidString)"), path(".err-\(UUID().uuidString)"))
    process.standardOutput = try Self.emptyFile(names.0)
    process.standardError = try Self.emptyFile(names.1)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return Run(
      status: process.terminationReason == .exit ? process.terminationStatus : -1,
      output: try String(contentsOfFile: names.0, encoding: .utf8),
      errors: try String(contentsOfFile: names.1, encoding: .utf8))
  }

  private static func emptyFile(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(fileURLWithPath: path))
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  /// A program lies where the tests lie: in the build directory, or above the test bundle.
  static func executable(_ name: String) throws -> URL {
    let start = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var folder = start.deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent(name)
      if FileManager.default.isExecutableFile(atPath: candidate.path), !isDirectory(candidate) {
        return candidate
      }
      folder.deleteLastPathComponent()
    }
    throw CocoaError(.fileNoSuchFile)
  }

  private static func isDirectory(_ url: URL) -> Bool {
    (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
  }
}

/// A class of the program whose store the tool looks at.
final class Song: StoredObject {
  @Content var title = ""
  @Content var next: Song?

  convenience init(_ title: String) {
    self.init()
    self.title = title
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    next = try buffer.readObject(of: Song.self)
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(next)
  }
}

/// Another.
final class Album: StoredObject {
  @Content var title = ""

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
}

extension ToolProcess {
  /// A store called Music, with songs of these titles in files, and more of them in the log only.
  func makeStore(_ titles: [String] = ["Für Elise", "b"], pending: [String] = []) throws {
    let backend = try TokyoCabinetBackend(directory: path("Music"))
    let store = Store(backend: backend)
    try store.register(Song.self, Album.self)
    for title in titles { store.insert(Song(title)) }
    store.insert(Album())
    try store.setBuffer(named: "Favorite") { $0.write("Elise") }
    try store.saveChanges()
    try backend.checkpoint()
    for title in pending {
      store.insert(Song(title))
      try store.saveChanges()
    }
    // Like a process that dies: closing would fold the log.
    if !pending.isEmpty { try copyStore(to: "Killed") }
    try backend.close()
    if !pending.isEmpty { try replaceStore(by: "Killed") }
  }

  private func copyStore(to name: String) throws {
    try FileManager.default.copyItem(atPath: path("Music"), toPath: path(name))
  }

  private func replaceStore(by name: String) throws {
    try FileManager.default.removeItem(atPath: path("Music"))
    try FileManager.default.moveItem(atPath: path(name), toPath: path("Music"))
  }

  /// Changes the bytes of a file.
  func edit(_ name: String, _ change: (inout Data) -> Void) throws {
    let url = folder.appendingPathComponent(name)
    var data = try Data(contentsOf: url)
    change(&data)
    try data.write(to: url)
  }

  /// Writes records past any class.
  func write(_ build: (inout ChangeSetBuilder, TableID) throws -> Void) throws {
    let backend = try TokyoCabinetBackend(directory: path("Music"))
    let songs = try backend.table(named: "Song")
    try backend.commit { try build(&$0, songs) }
    try backend.checkpoint()
    try backend.close()
  }

  /// The titles in a store.
  func titles(in name: String) throws -> [String] {
    let backend = try TokyoCabinetBackend(directory: path(name))
    let store = Store(backend: backend)
    try store.register(Song.self, Album.self)
    let titles = try store.allObjects(of: Song.self).map(\.title)
    try backend.close()
    return titles
  }
}

import Foundation
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import TokyoCabinetBackend

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

extension ProgramDirectory {
  /// Runs a command of the tool in the directory, to its end.
  func run(_ arguments: String...) throws -> ProgramRun { try run("stored-objects", arguments) }

  /// Runs a command on a store, with options.
  func run(_ command: String, _ store: String, _ options: [String]) throws -> ProgramRun {
    try run("stored-objects", [command, store] + options)
  }

  /// Runs a command line of bash in the directory, with the tool as `so`.
  func shell(_ line: String) throws -> ProgramRun {
    let path = try ProgramDirectory.executable("stored-objects").path
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", "set -o pipefail; so() { '\(path)' \"$@\"; }; \(line)"]
    process.currentDirectoryURL = folder
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    let errorText = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return ProgramRun(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: errorText, as: UTF8.self))
  }

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

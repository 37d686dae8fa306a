import Foundation
import Testing

/// Runs the program as its users do.
struct JukeboxProcess {
  /// What a run of the program has left.
  struct Run {
    var status: Int32
    var output: String
    var errors: String

    /// The output as JSON.
    func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      try JSONDecoder().decode(type, from: Data(output.utf8))
    }
  }

  /// A directory of its own, removed by ``remove()``.
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("jukebox-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// The path of a file in the directory.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Writes a file and gives its path.
  func write(_ data: Data, _ name: String) throws -> String {
    try data.write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// Runs a command on the store "Music" in the directory, to its end.
  func run(_ arguments: String...) throws -> Run {
    try runBare(arguments + ["--store", path("Music")])
  }

  /// Runs the program with these arguments and no others.
  func runBare(_ arguments: [String]) throws -> Run {
    let process = Process()
    process.executableURL = try Self.executable
    process.arguments = arguments
    // Under the address sanitizer, what libraries leave behind at the end must not become the status.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["ASAN_OPTIONS": "detect_leaks=0"]) { _, new in new }
    // Files, unlike pipes, take any amount of output while nobody reads.
    let names = (path("out-\(UUID().uuidString)"), path("err-\(UUID().uuidString)"))
    process.standardOutput = try Self.emptyFile(names.0)
    process.standardError = try Self.emptyFile(names.1)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return Run(
      status: process.terminationReason == .exit ? process.terminationStatus : -1,
      output: try Self.text(names.0), errors: try Self.text(names.1))
  }

  private static func text(_ path: String) throws -> String {
    let data = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd()
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  private static func emptyFile(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(fileURLWithPath: path))
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  /// The program lies where the tests lie: in the build directory, or above the test bundle.
  static var executable: URL {
    get throws {
      let start = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      var folder = start.deletingLastPathComponent()
      while folder.path != "/" {
        let candidate = folder.appendingPathComponent("jukebox")
        if FileManager.default.isExecutableFile(atPath: candidate.path), !isDirectory(candidate) {
          return candidate
        }
        folder.deleteLastPathComponent()
      }
      throw Missing(description: "jukebox is not built beside \(start.path)")
    }
  }

  private static func isDirectory(_ url: URL) -> Bool {
    (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
  }

  struct Missing: Error, CustomStringConvertible {
    var description: String
  }
}

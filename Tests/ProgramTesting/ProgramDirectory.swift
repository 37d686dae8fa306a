public import Foundation
import TestFiles

/// What a run of a program has left.
public struct ProgramRun: Sendable {
  /// Its exit status; -1 when a signal ended it.
  public var status: Int32
  /// What it wrote to its standard output.
  public var output: String
  /// What it wrote to its standard error.
  public var errors: String

  /// The output as JSON.
  public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(output.utf8))
  }
}

/// Runs programs of the package as their users do, in a directory of their own.
public struct ProgramDirectory: Sendable {
  /// Where the directory is.
  public let folder: URL

  /// Makes the directory, which ``remove()`` removes.
  public init() throws {
    folder = URL(filePath: try makeTemporaryDirectory(), directoryHint: .isDirectory)
  }

  /// Removes the directory and all in it.
  public func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Runs a test in a directory that is removed afterwards.
  public static func run(_ body: (ProgramDirectory) throws -> Void) throws {
    let directory = try ProgramDirectory()
    defer { directory.remove() }
    try body(directory)
  }

  /// The path of a file in the directory.
  public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The names of all files in a directory in this one.
  public func contents(_ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }

  /// Runs a program in the directory, to its end.
  public func run(_ program: String, _ arguments: [String]) throws -> ProgramRun {
    try start(program, arguments)()
  }

  /// Runs a program several times at once in the directory, each to its end.
  public func runAtOnce(_ program: String, _ arguments: [[String]]) throws -> [ProgramRun] {
    try arguments.map { try start(program, $0) }.map { try $0() }
  }

  /// Starts a program; the closure waits for its end.
  private func start(
    _ program: String, _ arguments: [String]
  ) throws -> () throws -> ProgramRun {
    let process = Process()
    process.executableURL = try Self.executable(program)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    // Under the address sanitizer, what libraries leave behind at the end must not become the
    // status.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["ASAN_OPTIONS": "detect_leaks=0"]) { _, new in new }
    // Files, unlike pipes, take any amount of output while nobody reads.
    let names = (path(".out-\(UUID().uuidString)"), path(".err-\(UUID().uuidString)"))
    process.standardOutput = try Self.emptyFile(names.0)
    process.standardError = try Self.emptyFile(names.1)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return {
      process.waitUntilExit()
      return ProgramRun(
        status: process.terminationReason == .exit ? process.terminationStatus : -1,
        output: try Self.text(names.0), errors: try Self.text(names.1))
    }
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  private static func emptyFile(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(fileURLWithPath: path))
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }
}

extension ProgramDirectory {
  /// Where a program of the package is.
  ///
  /// Programs lie where the tests lie: in the build directory, or above the test bundle.
  public static func executable(_ name: String) throws -> URL {
    let start = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var folder = start.deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent(name)
      if FileManager.default.isExecutableFile(atPath: candidate.path), !isDirectory(candidate) {
        return candidate
      }
      folder.deleteLastPathComponent()
    }
    throw Missing(description: "\(name) is not built beside \(start.path)")
  }

  private static func isDirectory(_ url: URL) -> Bool {
    (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
  }

  /// A program that has not been built.
  public struct Missing: Error, CustomStringConvertible {
    /// Which program, and where it was looked for.
    public let description: String
  }
}

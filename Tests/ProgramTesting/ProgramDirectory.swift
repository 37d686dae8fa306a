public import Foundation
import TestFiles

/// The result of a program's run.
public struct ProgramRun: Sendable {
  /// The exit status; -1 if a signal ended the program.
  public var status: Int32
  /// The standard output.
  public var output: String
  /// The standard error.
  public var errors: String

  /// Creates a result.
  public init(status: Int32, output: String, errors: String) {
    (self.status, self.output, self.errors) = (status, output, errors)
  }

  /// Returns the output decoded as JSON.
  public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(output.utf8))
  }
}

/// A temporary directory in which tests run programs of the package, as users do.
public struct ProgramDirectory: Sendable {
  /// The location of the directory.
  public let folder: URL

  /// Creates the directory, which ``remove()`` removes.
  public init() throws {
    folder = URL(filePath: try makeTemporaryDirectory(), directoryHint: .isDirectory)
  }

  /// Removes the directory with its content.
  public func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Runs a test in a directory that is removed afterwards.
  public static func run(_ body: (ProgramDirectory) throws -> Void) throws {
    let directory = try ProgramDirectory()
    defer { directory.remove() }
    try body(directory)
  }

  /// Returns the path of a file in the directory.
  public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Returns the names of all files in a directory inside this one.
  public func contents(_ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }

  /// Runs a program in the directory, and waits for its end.
  public func run(_ program: String, _ arguments: [String]) throws -> ProgramRun {
    try start(program, arguments)()
  }

  /// Runs several instances of a program in the directory at once, and waits for the end of each.
  public func runAtOnce(_ program: String, _ arguments: [[String]]) throws -> [ProgramRun] {
    try arguments.map { try start(program, $0) }.map { try $0() }
  }

  /// Starts a program, and returns a closure that waits for its end.
  private func start(
    _ program: String, _ arguments: [String]
  ) throws -> () throws -> ProgramRun {
    let process = Process()
    process.executableURL = try Self.executable(program)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    // Under the address sanitizer, leaks of libraries must not change the exit status.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["ASAN_OPTIONS": "detect_leaks=0"]) { _, new in new }
    // Files, unlike pipes, take any amount of output that nobody reads.
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
  /// Returns the location of a program of the package.
  ///
  /// Programs are beside the tests: in the build directory, or above the test bundle.
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

  /// An error for a program that has not been built.
  public struct Missing: Error, CustomStringConvertible {
    /// The program, and the directories that were searched.
    public let description: String
  }
}

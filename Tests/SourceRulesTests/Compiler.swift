import Foundation
import TestFiles

/// Compiles small programs against the modules that were built along with these tests.
enum Compiler {
  /// The output of the compiler, and whether it succeeded.
  struct Outcome {
    let succeeded: Bool
    let diagnostics: String
  }

  /// The folder of the modules, beside the test bundle.
  private static var modules: URL {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    let candidates = [program, URL(filePath: CommandLine.arguments[0])].map {
      $0.deletingLastPathComponent().appending(path: "Modules")
    }
    let name = "StoredObjectsCore.swiftmodule"
    return candidates.first {
      FileManager.default.fileExists(atPath: $0.appending(path: name).path(percentEncoded: false))
    } ?? candidates[0]
  }

  /// Where the package manager keeps what the compiler makes of C headers.
  private static var moduleCache: URL {
    modules.deletingLastPathComponent().appending(path: "ModuleCache")
  }

  /// Where the headers of the C modules are that the modules import.
  private static let headers =
    ["CCRC32C/include", "CFiles/include", "CTokyoCabinet", "CZlib"].flatMap { name in
      let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardizedFileURL
      return ["-I", sources.appending(path: name).path(percentEncoded: false)]
    }

  /// The compiler's arguments for the macros of this package.
  private static var macros: [String] {
    let plugin = modules.deletingLastPathComponent().appending(path: "StoredObjectsMacros-tool")
    return [
      "-load-plugin-executable", plugin.path(percentEncoded: false) + "#StoredObjectsMacros",
    ]
  }

  /// Compiles a program as Swift 6, up to the checks of data races, which come after type checking.
  static func compile(_ program: String, usesMacros: Bool = false) throws -> Outcome {
    let folder = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let source = URL(filePath: folder + "/Program.swift")
    try program.write(to: source, atomically: false, encoding: .utf8)

    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "swiftc", "-emit-sil", "-o", folder + "/Program.sil", "-parse-as-library", "-swift-version",
        "6",
        "-module-cache-path", moduleCache.path(percentEncoded: false),
        "-I", modules.path(percentEncoded: false), source.path(percentEncoded: false),
      ] + headers + (usesMacros ? macros : [])
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Outcome(
      succeeded: process.terminationStatus == 0,
      diagnostics: String(decoding: text, as: UTF8.self))
  }
}

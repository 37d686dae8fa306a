import Foundation
import TokyoCabinet

/// A directory of its own for a test, removed at the end of the closure.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("TokyoCabinetTests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try body(directory.path)
}

/// Runs a program to its end; nil when it isn't installed.
func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String)? {
  let candidates = ["/usr/bin/\(program)", "/usr/local/bin/\(program)", "/bin/\(program)"]
  guard let path = candidates.first(where: FileManager.default.isExecutableFile) else { return nil }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: path)
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  try process.run()
  let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
}

/// Whether the C library's command-line tool is installed (Debian package tokyocabinet-bin).
let hasManager = ["/usr/bin/tchmgr", "/usr/local/bin/tchmgr"]
  .contains(where: FileManager.default.isExecutableFile)

/// A number as the 4 bytes of a key, least significant first.
func key(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}

/// The code of the error that a call throws; nil when it throws none, or another.
func code(_ body: () throws -> Void) -> TokyoCabinetError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? TokyoCabinetError)?.code
  }
}

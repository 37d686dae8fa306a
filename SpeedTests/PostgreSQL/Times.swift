import Foundation

/// The times of runs in milliseconds, in ascending order.
struct Times {
  private(set) var all: [Double]

  init(_ lines: [String]) { all = lines.compactMap(Double.init).sorted() }

  var median: Double { all[all.count / 2] }
  var p99: Double { all[all.count * 99 / 100] }

  mutating func add(_ others: Times) { all = (all + others.all).sorted() }

  var text: String { "median \(format(median)) ms, p99 \(format(p99)) ms" }
}

/// Returns a number with three significant digits.
func format(_ number: Double) -> String {
  String(format: number >= 100 ? "%.0f" : number >= 10 ? "%.1f" : "%.2f", number)
}

/// Another process, whose output is a list of times.
struct TimedProcess {
  private let process = Process()
  private let output = Pipe()
  private let name: String

  /// The program failed.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  init(_ program: String, _ arguments: [String]) throws {
    name = program
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// Waits until the process ends, and returns the times that it has printed.
  func times() throws -> Times {
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(description: "\(name) has failed") }
    return Times(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
  }
}

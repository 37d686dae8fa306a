import Foundation

/// Standard output.
enum Output {
  /// Prints a line.
  static func print(_ line: String) throws { try print([line]) }

  /// Prints lines.
  static func print(_ lines: [String]) throws {
    // Prints in pieces, so that a reader of the first lines does not wait for all of them.
    for start in stride(from: 0, to: lines.count, by: 1000) {
      let piece = lines[start..<min(start + 1000, lines.count)]
      try write(Data((piece.joined(separator: "\n") + "\n").utf8))
    }
  }

  /// Prints a value as JSON.
  static func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try write(try encoder.encode(value) + Data("\n".utf8))
  }

  /// Prints a line to standard error, for people and not for programs.
  static func note(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }

  private static func write(_ data: Data) throws {
    do {
      try FileHandle.standardOutput.write(contentsOf: data)
    } catch {
      // The reader has ended, as in `jukebox songs | head`. This is not an error.
      if isBrokenPipe(error) { exit(0) }
      throw Failure("The output could not be written: \(error.localizedDescription)")
    }
  }

  private static func isBrokenPipe(_ error: any Error) -> Bool {
    let error = error as NSError
    if error.domain == NSPOSIXErrorDomain, error.code == Int(EPIPE) { return true }
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    return cause?.domain == NSPOSIXErrorDomain && cause?.code == Int(EPIPE)
  }
}

import Foundation
import StoredObjectsCore

/// Adds to a continuous backup again and again, until the command is to end.
struct ContinuousBackupRun {
  let store: StoreArgument
  let target: String
  /// How often a segment is closed.
  let pause: Duration
  /// The program that gets each new file as its argument.
  let command: String?
  let isOnce: Bool
  /// The files that the program has not taken yet.
  private var waiting: [String] = []

  init(
    _ store: StoreArgument, to target: String, every seconds: Double, running command: String?,
    isOnce: Bool
  ) {
    (self.store, self.target, self.command, self.isOnce) = (store, target, command, isOnce)
    pause = .seconds(seconds)
  }

  /// Runs until SIGTERM or Control-C.
  ///
  /// - Returns: the last commit that the backup has.
  mutating func run() throws -> UInt64 {
    let stop = StopSignal()
    let source = try PolledStore(store)
    let line = ProgressLine("backup")
    defer { line.end() }
    var backup = try ContinuousBackup(directory: target)
    while true {
      let started = ContinuousClock.now
      waiting += try source.read { try backup.update(from: $0) { line.show($0) } }
      line.end()
      try handOver()
      if isOnce { break }
      let rest = pause - started.duration(to: .now)
      if rest > .zero { stop.sleep(rest) }
      let goesOn = waiting.isEmpty ? source.waitForNews(stop) : !stop.isRequested
      if !goesOn { break }
    }
    // What was committed until now.
    if !isOnce { waiting += try source.read { try backup.update(from: $0) } }
    try handOver()
    guard waiting.isEmpty else {
      throw Failure(description: "The program has not taken \(waiting[0]). Hand it over by hand.")
    }
    return backup.position?.number ?? 0
  }

  /// Runs the program for each new file; one that fails is tried again later.
  private mutating func handOver() throws {
    guard let command else {
      waiting = []
      return
    }
    while let path = waiting.first {
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", command + " \"$1\"", "sh", path]
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        let text = "stored-objects: \(command) has failed for \(path), and is tried again\n"
        return FileHandle.standardError.write(Data(text.utf8))
      }
      waiting.removeFirst()
    }
  }
}

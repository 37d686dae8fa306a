import Foundation
import StoredObjectsCore

/// Updates a continuous backup repeatedly until the command should end.
struct ContinuousBackupRun {
  let store: StoreArgument
  let target: String
  /// The minimum time between two segments.
  let pause: Duration
  /// The shell command that receives the path of each new file.
  let command: String?
  let isOnce: Bool
  /// The paths of new files that the command has not processed yet.
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
  /// - Returns: The number of the last commit in the backup.
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
    // The commits up to the signal.
    if !isOnce { waiting += try source.read { try backup.update(from: $0) } }
    try handOver()
    guard waiting.isEmpty else {
      throw Failure(description: "The command has failed for \(waiting[0]). Run it again yourself.")
    }
    return backup.position?.number ?? 0
  }

  /// Runs the command for each new file, until it fails once.
  ///
  /// A failed file is tried again after the next update.
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
        let text = "stored-objects: \(command) has failed for \(path) and will be tried again\n"
        return FileHandle.standardError.write(Data(text.utf8))
      }
      waiting.removeFirst()
    }
  }
}

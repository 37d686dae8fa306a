import ArgumentParser
import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// A measurement of the time until a process is notified of a save by another one.
enum NewsOfOthers {
  static let count = 500

  /// Returns the times from the end of a save in one process to its notice in another, in
  /// milliseconds, sorted.
  ///
  /// A notice that arrives before the save returns takes no time.
  static func delays(_ folder: String) throws -> [Double] {
    let container = try StoreContainer(
      backend: openStore(folder, .processes), classes: [Song.self])
    let changes = try container.committedChanges()
    let arrivals = Task {
      var times: [UInt64] = []
      for await change in changes {
        times += change[Song.self].inserted.map { _ in now() }
        if times.count >= count { break }
      }
      return times
    }
    let saves = try OwnProcess(["news-worker", folder]).lines().compactMap { UInt64($0) }
    guard saves.count == count else { throw ExitCode.failure }
    let times = try waitFor { await arrivals.value }
    try waitFor { try await container.close() }
    return zip(saves, times).map { Double($1) > Double($0) ? Double($1 - $0) / 1e6 : 0 }.sorted()
  }

  /// Waits for a task.
  ///
  /// A command that is itself a task would have additional threads from the beginning, which makes
  /// mutexes slower for everything that is measured.
  private static func waitFor<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let (done, box) = (DispatchSemaphore(value: 0), Box<Value>())
    Task {
      do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
      done.signal()
    }
    done.wait()
    guard let result = box.result else { throw ExitCode.failure }
    return try result.get()
  }

  /// `@unchecked Sendable`: written before the semaphore is signalled, and read after it.
  private final class Box<Value>: @unchecked Sendable {
    var result: Swift.Result<Value, any Error>?
  }

  /// Returns the time of a clock that all processes share, in nanoseconds.
  static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// The other process, which saves from time to time.
struct NewsWorker: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "news-worker", shouldDisplay: false)

  @Argument var folder: String

  func run() throws {
    let store = Store(backend: try openStore(folder, .processes))
    try store.register(Song.self)
    for number in 0..<NewsOfOthers.count {
      store.insert(Song(title: "\(number)", seconds: 1))
      try store.saveChanges()
      print(NewsOfOthers.now())
      usleep(3000)
    }
    try store.backend.close()
  }
}

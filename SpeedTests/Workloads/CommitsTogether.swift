import Dispatch
import Foundation
package import StoredObjectsCore
import Synchronization
import TokyoCabinetBackend

/// Measures the saves per second of stores on one backend, each in an actor with a separate thread.
package struct CommitsTogether {
  /// The result for one number of stores.
  package struct Outcome: Sendable {
    package let savesPerSecond: Double
    /// The times of saves in milliseconds, in ascending order.
    package let times: [Double]
  }

  let directory: String
  let durability: Durability

  /// Creates a measurement of saves to a store in a directory.
  package init(directory: String, durability: Durability) {
    (self.directory, self.durability) = (directory, durability)
  }

  /// Measures some stores that save one object after another.
  package func measure(stores count: Int, seconds: Double) throws -> Outcome {
    let backend = try TokyoCabinetBackend(
      directory: directory, configuration: .init(durability: durability))
    defer { try? backend.close() }
    let done = Finished()
    let savers = (0..<count).map { _ in Saver(backend) }
    let end = Date() + seconds
    for saver in savers { Task { done.add(await saver.save(until: end)) } }
    let all = done.wait(for: count)
    return Outcome(
      savesPerSecond: Double(all.count) / seconds, times: all.sorted())
  }
}

/// The results of savers, for the thread that waits for them.
private final class Finished: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let times = Mutex<[Double]>([])

  func add(_ found: [Double]) {
    times.withLock { $0 += found }
    semaphore.signal()
  }

  func wait(for count: Int) -> [Double] {
    for _ in 0..<count { semaphore.wait() }
    return times.withLock { $0 }
  }
}

/// A store in an actor with a separate thread.
private actor Saver {
  private let executor = ThreadExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }
  private let backend: TokyoCabinetBackend

  init(_ backend: TokyoCabinetBackend) { self.backend = backend }

  func save(until end: Date) -> [Double] {
    let store = Store(backend: backend)
    var times: [Double] = []
    do {
      try store.register(Song.self)
      while Date() < end {
        let start = ContinuousClock.now
        store.insert(Song(title: "A song of some length", seconds: 200))
        try store.saveChanges()
        times.append(start.duration(to: .now) / .milliseconds(1))
      }
    } catch { fatalError("A save has failed: \(error)") }
    return times
  }
}

import Dispatch
import Foundation
import Synchronization

/// Detects the signals that end a command: SIGTERM, and SIGINT from the keyboard.
final class StopSignal {
  private let request = StopRequest()
  private let sources: [any DispatchSourceSignal]

  /// Begins to handle the signals, which no longer end the process.
  init() {
    sources = Self.numbers.map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: .global())
    }
    for source in sources {
      source.setEventHandler { [request] in request.make() }
      source.activate()
    }
  }

  deinit { for number in Self.numbers { signal(number, SIG_DFL) } }

  private static let numbers = [SIGTERM, SIGINT]

  /// Whether the command should end.
  var isRequested: Bool { request.isMade }

  /// Sleeps for a duration, or until the command should end.
  func sleep(_ duration: Duration) { request.wait(atMost: duration) }
}

/// A request to end a command, shared by several threads.
private final class StopRequest: Sendable {
  private let flag = Atomic(false)
  private let semaphore = DispatchSemaphore(value: 0)

  var isMade: Bool { flag.load(ordering: .acquiring) }

  func make() {
    flag.store(true, ordering: .releasing)
    semaphore.signal()
  }

  func wait(atMost duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    if semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success {
      // Wakes the next waiting thread.
      semaphore.signal()
    }
  }
}

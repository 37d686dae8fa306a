import Dispatch
import Foundation
import Synchronization

/// Notes that a command is to end: SIGTERM, or SIGINT from the keyboard.
final class StopSignal {
  private let request = StopRequest()
  private let sources: [any DispatchSourceSignal]

  /// Takes the signals from now on, which no longer end the process.
  init() {
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: .global())
    }
    for source in sources {
      source.setEventHandler { [request] in request.make() }
      source.activate()
    }
  }

  /// Whether the command is to end.
  var isRequested: Bool { request.isMade }

  /// Sleeps, unless the command is to end.
  func sleep(_ duration: Duration) { request.wait(atMost: duration) }
}

/// Whether a command is to end, for several threads.
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
      // For the next one that waits.
      semaphore.signal()
    }
  }
}

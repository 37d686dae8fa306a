import Synchronization

/// The error of work on another thread, once it has failed.
final class Outcome: Sendable {
  private let state = Mutex<(any Error)?>(nil)

  /// The error; nil if there is none.
  var error: (any Error)? { state.withLock { $0 } }

  /// Sets the error.
  func set(_ error: any Error) { state.withLock { $0 = error } }
}

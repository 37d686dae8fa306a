import Files
import Locks

/// A failure of one call of a ``TestedFileSystem``.
package final class CallFailure: Sendable {
  private let state: Locked<State>

  private struct State {
    let failing: Int
    let number: Int32
    var count = 0
    var failed: String?
    var names: [String] = []
  }

  /// Creates a failure of a call by its number, starting with 1, with an `errno`.
  package init(_ failing: Int, _ number: Int32) {
    state = Locked(State(failing: failing, number: number))
  }

  /// A file system on which the call fails.
  package var fileSystem: TestedFileSystem { TestedFileSystem { self.take($0, $1) } }

  /// The call that has failed; nil if there were fewer calls.
  package var failed: String? { state.withLock { $0.failed } }

  /// The names of all calls, in their order.
  package var names: [String] { state.withLock { $0.names } }

  private func take(_ call: FileCall, _ path: String) -> Int32? {
    state.withLock { state in
      state.count += 1
      state.names.append(call.rawValue)
      guard state.count == state.failing else { return nil }
      state.failed = "\(call.rawValue) \(path.split(separator: "/").last ?? "")"
      return state.number
    }
  }
}

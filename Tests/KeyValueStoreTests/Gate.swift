import Locks

/// A door that threads stop at until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = true
    var arrived = 0
  }
  private let state = Locked(State())

  func close() { state.change(once: { _ in true }) { $0 = State(isOpen: false) } }
  func open() { state.change(once: { _ in true }) { $0.isOpen = true } }
  func pass() {
    state.change(once: { _ in true }) { $0.arrived += 1 }
    state.change(once: \.isOpen) { _ in }
  }
  /// Whether somebody has come to the closed door.
  var hasArrival: Bool { state.withLock { $0.arrived > 0 } }
  /// Returns when somebody has come to the closed door.
  func waitForArrival() { state.change(once: { $0.arrived > 0 }) { _ in } }
}

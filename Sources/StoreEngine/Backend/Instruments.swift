import Locks
import Synchronization

/// The instrument of a backend.
///
/// It is read at each save and look-up; if there is none, that takes no lock.
final class Instruments: Sendable {
  private let isSetNow = Atomic(false)
  private let state = Locked(State())

  private struct State {
    var instrument: (any StoreInstrument)?
    var counter: ActivityCounter?
  }

  /// The counter of look-ups for other processes; nil for backends without a directory.
  var counter: ActivityCounter? {
    get { state.withLock { $0.counter } }
    set { state.withLock { $0.counter = newValue } }
  }

  var isSet: Bool { isSetNow.load(ordering: .acquiring) }

  var current: (any StoreInstrument)? {
    get { isSet ? state.withLock { $0.instrument } : nil }
    set {
      state.withLock { $0.instrument = newValue }
      isSetNow.store(newValue != nil, ordering: .releasing)
    }
  }
}

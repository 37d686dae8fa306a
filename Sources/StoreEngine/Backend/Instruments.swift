import Locks
import Synchronization

/// The instrument of a backend, which is asked for at each save and look-up: without one, that takes
/// no lock.
final class Instruments: Sendable {
  private let isSet = Atomic(false)
  private let instrument = Locked<(any StoreInstrument)?>(nil)

  var current: (any StoreInstrument)? {
    get { isSet.load(ordering: .acquiring) ? instrument.withLock { $0 } : nil }
    set {
      instrument.withLock { $0 = newValue }
      isSet.store(newValue != nil, ordering: .releasing)
    }
  }
}

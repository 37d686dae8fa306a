import Locks
import Synchronization

/// The instrument of a backend.
///
/// It is read at each save and look-up; if there is none, that takes no lock.
final class Instruments: Sendable {
  private let isSetNow = Atomic(false)
  private let instrument = Locked<(any StoreInstrument)?>(nil)
  private let ownCounter = Locked<ActivityCounter?>(nil)

  /// The counter of look-ups for other processes; nil for backends without a directory.
  var counter: ActivityCounter? {
    get { ownCounter.withLock { $0 } }
    set { ownCounter.withLock { $0 = newValue } }
  }

  var isSet: Bool { isSetNow.load(ordering: .acquiring) }

  var current: (any StoreInstrument)? {
    get { isSet ? instrument.withLock { $0 } : nil }
    set {
      instrument.withLock { $0 = newValue }
      isSetNow.store(newValue != nil, ordering: .releasing)
    }
  }
}

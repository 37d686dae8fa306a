import Files
import StoreEngine

extension KeyValueStore {
  /// Reports the writes of other processes to observers, while there are any.
  func observeOtherProcesses() {
    let listener = CommitListener(ofOtherProcesses: true) { [weak tables] changes in
      tables?.publishForeign(changes)
    }
    observers.observeWatching { [coordinator = backend.coordinator] isWatched in
      if isWatched { coordinator.attach(listener) } else { coordinator.detach(listener) }
    }
  }
}

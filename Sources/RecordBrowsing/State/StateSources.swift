import Files
import Locks
package import StoreEngine
import StoredObjectsCore

/// A provider of the newest state of a store.
package protocol StateSource: Sendable {
  /// Returns the newest state; the same object as long as nothing has changed.
  ///
  /// - Throws: ``/StoreEngine/StoreError``.
  func state() throws(StoreError) -> BrowsedState
  /// Releases files and locks.
  func close()
}

/// A store in a directory that other programs save to, open for reading.
///
/// The files stay open until they change, so that most reads open nothing. No lock is held.
package final class PolledSource: StateSource {
  private let directory: String
  private let open: @Sendable () throws(StoreError) -> any StoreBackend
  private let known = Locked<Known?>(nil)

  /// The minimum time between two looks at the files.
  private static let pause = Duration.milliseconds(20)

  private struct Known: Sendable {
    let state: BrowsedState
    let stamp: StoreStamp
    let readAt: ContinuousClock.Instant
    var lookedAt: ContinuousClock.Instant
  }

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - directory: The directory of the store.
  ///   - open: Opens the store for reading, as of its last commit.
  package init(
    _ directory: String, open: @escaping @Sendable () throws(StoreError) -> any StoreBackend
  ) { (self.directory, self.open) = (directory, open) }

  package func state() throws(StoreError) -> BrowsedState {
    try known.withLock { (known) throws(StoreError) in
      let now = ContinuousClock.now
      if var last = known {
        if now - last.lookedAt < Self.pause { return last.state }
        let isDoubtful = last.lookedAt - last.readAt < StoreStamp.clockStep
        if StoreStamp(directory: directory) == last.stamp, !isDoubtful {
          last.lookedAt = now
          known = last
          return last.state
        }
      }
      let stamp = StoreStamp(directory: directory)
      let backend = try open()
      let state = try BrowsedState(backend) { try? backend.close() }
      // An unchanged state keeps its results.
      let isSame = known.map { $0.state.number == state.number && $0.stamp == stamp } ?? false
      let newest = isSame ? known?.state ?? state : state
      known = Known(
        state: newest, stamp: stamp, readAt: isSame ? known?.readAt ?? now : now, lookedAt: now)
      return newest
    }
  }

  package func close() { known.withLock { $0 = nil } }
}

/// A backend that is open, whose snapshots are its states.
package final class LiveSource: StateSource {
  private let backend: any StoreBackend
  private let known = Locked<BrowsedState?>(nil)

  /// Creates a source, which closes the backend at the end.
  package init(_ backend: any StoreBackend) { self.backend = backend }

  package func state() throws(StoreError) -> BrowsedState {
    try known.withLock { (known) throws(StoreError) in
      if let known, known.number == backend.lastCommitNumber { return known }
      let state = try BrowsedState(backend.snapshot())
      known = state
      return state
    }
  }

  package func close() {
    known.withLock { $0 = nil }
    try? backend.close()
  }
}

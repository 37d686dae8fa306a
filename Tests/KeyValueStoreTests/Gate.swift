import CDBBackend
import KeyValueStoreCore
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends

@testable import StoreEngine

/// A door that threads stop at until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = true
    var permits = 0
    var arrived = 0
    var mayPass: Bool { isOpen || permits > 0 }
  }
  private let state = Locked(State())

  func close() { state.change { $0 = State(isOpen: false) } }
  func open() { state.change { $0.isOpen = true } }
  /// Lets one through, and stays closed for the next.
  func letOnePass() { state.change { $0.permits += 1 } }
  func pass() {
    state.change { $0.arrived += 1 }
    state.change(once: \.mayPass) { state in
      if !state.isOpen { state.permits -= 1 }
    }
  }
  /// Whether somebody has come to the closed door.
  var hasArrival: Bool { state.withLock { $0.arrived > 0 } }
  /// Returns when somebody has come to the closed door.
  func waitForArrival() { state.change(once: { $0.arrived > 0 }) { _ in } }
}

/// A store with a table "a" on a disk whose syncs stop at a gate.
func gatedStore() throws -> (
  disk: CrashingDirectory, gate: Gate, store: KeyValueStore, table: KeyValueTable
) {
  let (disk, gate) = (try CrashingDirectory(), Gate())
  // However large a commit is, it goes through the log.
  let limits = CheckpointLimits(logBytes: 1 << 30, bulkBytes: 1 << 30)
  let store = try KeyValueStore(backend: CDBBackend(disk, limits: limits))
  let table = try store.createTable("a")
  disk.observeSyncs { gate.pass() }
  return (disk, gate, store, table)
}

extension KeyValueStore {
  /// How many commits wait behind the one that is brought to the disk.
  var queuedCount: Int {
    (backend as? CDBBackend)?.queue.waitingCount ?? 0
  }
}

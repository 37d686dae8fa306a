import Locks
import StoreEngine

extension Store {
  /// Merges the saves of other stores automatically, on the actor that calls this.
  ///
  ///     @MainActor final class Library {
  ///       let store: Store
  ///
  ///       init(_ container: StoreContainer) throws {
  ///         store = try container.makeStore()
  ///         store.mergeAutomatically()
  ///       }
  ///     }
  ///
  /// After a save of another store on the backend, also in another process, this store calls
  /// ``mergeChanges()`` as a job of the actor. So objects, views and live results never change
  /// between two lines of your code: they change while a function waits at an `await`, or after it
  /// has returned. Several saves before such a moment are merged together.
  ///
  /// Objects with unsaved changes are left alone, as in every merge: their save throws `conflict`,
  /// unless ``StoreConfiguration/conflictPolicy`` resolves it.
  ///
  /// Merging ends when the store is released. A second call moves it to the actor of that call.
  ///
  /// Complexity: O(1); each save of another store costs a ``mergeChanges()``.
  ///
  /// - Parameter isolation: The actor that uses the store.
  public func mergeAutomatically(isolation: isolated any Actor = #isolation) {
    automaticMerging = AutomaticMerging(MergingStore(self, isolation), backend.coordinator)
  }

  /// Merges changes that the backend has reported, without asking it for more.
  func mergeReportedChanges() {
    mergeChanges(keepsDeleted: false)
    updateLiveQueries()
  }
}

/// Merges into a store after each save on its backend, until it is released.
final class AutomaticMerging {
  private let coordinator: StoreCoordinator
  private let listener: CommitListener

  init(_ store: MergingStore, _ coordinator: StoreCoordinator) {
    self.coordinator = coordinator
    listener = CommitListener({ _ in store.mergeLater() }, didLoseTrack: { store.mergeLater() })
    coordinator.attach(listener)
    // Saves from before.
    store.mergeLater()
  }

  deinit { coordinator.detach(listener) }
}

/// A store and the actor that uses it, both of which may be released.
///
/// `@unchecked Sendable`: the store is used in jobs of its actor only.
final class MergingStore: @unchecked Sendable {
  private weak let store: Store?
  private weak let actor: (any Actor)?
  /// Whether a merge will begin that finds all saves so far.
  private let isWaiting = Locked(false)

  init(_ store: Store, _ actor: any Actor) { (self.store, self.actor) = (store, actor) }

  /// Merges as a job of the actor; called on any thread.
  func mergeLater() {
    let isFirst = isWaiting.withLock { isWaiting in
      defer { isWaiting = true }
      return !isWaiting
    }
    guard isFirst, let actor else { return }
    Task { await merge(on: actor) }
  }

  private func merge(on actor: isolated any Actor) {
    // A save from now on needs another merge.
    isWaiting.withLock { $0 = false }
    store?.mergeReportedChanges()
  }
}

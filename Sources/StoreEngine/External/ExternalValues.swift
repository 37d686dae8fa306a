import Locks

/// The values that the process holds, so that none is removed that somebody can still read.
///
/// A value is removed when nobody holds it and no row refers to it. Safe on any threads.
package final class ExternalValues: Sendable {
  /// Where the values are.
  package let storage: any ExternalStorage
  private let state = Locked(State())

  fileprivate struct State {
    var uses: [ExternalID: Use] = [:]
    /// How many of them may have to be removed.
    var doubtfulCount = 0
    /// Whether a commit has failed half-way, so that nobody knows what rows refer to.
    var isSuspended = false
    /// How many snapshots have been taken.
    var snapshotCount: UInt64 = 0
    /// Those that are held, by their numbers.
    var snapshots: Set<UInt64> = []
  }

  fileprivate struct Use {
    var holderCount = 0
    /// Whether perhaps no row refers to the value.
    var isDoubtful = false
    /// How many snapshots had been taken when that was noticed last: these may refer to it.
    var snapshotCount: UInt64 = 0
  }

  package init(_ storage: any ExternalStorage) { self.storage = storage }

  fileprivate func hold(_ id: ExternalID, isNew: Bool) {
    state.withLock { state in
      state.uses[id, default: Use()].holderCount += 1
      if isNew { state.doubt(id) }
    }
  }

  fileprivate func release(_ id: ExternalID) {
    state.withLock { state in
      guard var use = state.uses[id] else { return }
      use.holderCount -= 1
      state.uses[id] = use.holderCount == 0 && !use.isDoubtful ? nil : use
    }
  }

  fileprivate func beginSnapshot() -> UInt64 {
    state.withLock { state in
      state.snapshotCount += 1
      state.snapshots.insert(state.snapshotCount)
      return state.snapshotCount
    }
  }

  fileprivate func endSnapshot(_ number: UInt64) {
    state.withLock { _ = $0.snapshots.remove(number) }
  }

  /// Whether the process holds a value.
  func isHeld(_ id: ExternalID) -> Bool {
    state.withLock { $0.uses[id].map { $0.holderCount > 0 } ?? false }
  }

  /// Takes note of values to which a commit has removed a reference.
  package func didDrop(_ values: some Sequence<ExternalID>) {
    state.withLock { state in
      for id in values { state.doubt(id) }
    }
  }

  /// Removes nothing any more: a commit has failed, and may be there when the store is opened
  /// again.
  package func suspend() { state.withLock { $0.isSuspended = true } }

  /// Removes the values that nobody holds and no row refers to.
  ///
  /// What can't be removed is tried again at the next opening.
  package func collect(_ backend: any StoreBackend) {
    // A snapshot knows only what rows referred to then.
    if backend.isReadOnly { return }
    let candidates = state.withLock { state in
      guard state.doubtfulCount > 0, !state.isSuspended else { return [ExternalID]() }
      let oldest = state.snapshots.min() ?? .max
      return state.uses.filter {
        $0.value.isDoubtful && $0.value.holderCount == 0 && $0.value.snapshotCount < oldest
      }.map(\.key)
    }
    if candidates.isEmpty { return }
    guard let catalogue = try? ExternalCatalogue(backend) else { return }
    for id in candidates {
      let isReferenced = (try? catalogue.isReferenced(id)) ?? true
      state.withLock { state in
        // Who holds it from now on finds it gone, and can't save a reference to it.
        guard state.uses[id]?.holderCount == 0 else { return }
        state.settle(id)
        if !isReferenced { try? storage.remove(id) }
      }
    }
  }
}

extension ExternalValues.State {
  fileprivate mutating func doubt(_ id: ExternalID) {
    var use = uses[id] ?? ExternalValues.Use()
    if !use.isDoubtful { doubtfulCount += 1 }
    (use.isDoubtful, use.snapshotCount) = (true, snapshotCount)
    uses[id] = use
  }

  fileprivate mutating func settle(_ id: ExternalID) {
    if uses.removeValue(forKey: id)?.isDoubtful == true { doubtfulCount -= 1 }
  }
}

/// The values that a snapshot may refer to: none of them is removed while this is held.
package final class ExternalValuesInUse: Sendable {
  let values: ExternalValues
  private let number: UInt64

  /// Keeps what rows refer to now, and what they refer to when a snapshot is taken next.
  package init(_ values: ExternalValues) {
    self.values = values
    number = values.beginSnapshot()
  }

  deinit { values.endSnapshot(number) }
}

/// A stored value that somebody holds.
package final class ExternalValue: Sendable {
  /// What records hold of it.
  package let reference: ExternalReference
  /// Where it is held.
  package let values: ExternalValues
  /// Whether it was stored here, and has been held since.
  package let isNew: Bool

  /// Holds a value.
  ///
  /// - Parameters:
  ///   - reference: The value.
  ///   - values: The values of its backend.
  ///   - isNew: Whether no row refers to it yet.
  package init(_ reference: ExternalReference, in values: ExternalValues, isNew: Bool = false) {
    (self.reference, self.values, self.isNew) = (reference, values, isNew)
    values.hold(reference.id, isNew: isNew)
  }

  deinit { values.release(reference.id) }

  /// Opens the value.
  ///
  /// - Throws: ``StoreError``, as ``ExternalStorage/open(_:)``.
  package func reader() throws(StoreError) -> ExternalReader {
    ExternalReader(try values.storage.open(reference), reference)
  }
}

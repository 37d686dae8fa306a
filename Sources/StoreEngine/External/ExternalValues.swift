import Locks

/// The external values that the process holds, so that none is removed while it can be read.
///
/// A value is removed when no object holds it and no row refers to it. Safe on any thread.
package final class ExternalValues: Sendable {
  /// The storage of the values.
  package let storage: any ExternalStorage
  private let state = Locked(State())

  fileprivate struct State {
    var uses: [ExternalID: Use] = [:]
    /// The number of values that may have to be removed.
    var doubtfulCount = 0
    /// Whether a commit has failed half-way, so that the references of rows are unknown.
    var isSuspended = false
    /// The number of snapshots taken so far.
    var snapshotCount: UInt64 = 0
    /// The numbers of the snapshots that still exist.
    var snapshots: Set<UInt64> = []
  }

  fileprivate struct Use {
    var holderCount = 0
    /// Whether it is possible that no row refers to the value.
    var isDoubtful = false
    /// The number of snapshots when that was last noticed; these may refer to the value.
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
  package func isHeld(_ id: ExternalID) -> Bool {
    state.withLock { $0.uses[id].map { $0.holderCount > 0 } ?? false }
  }

  /// Records that a commit has removed references to values.
  package func didDrop(_ values: some Sequence<ExternalID>) {
    state.withLock { state in
      for id in values { state.doubt(id) }
    }
  }

  /// Stops removing values, after a commit that failed and may be there after reopening.
  package func suspend() { state.withLock { $0.isSuspended = true } }

  /// Removes the values that no object holds and no row refers to.
  ///
  /// Values that can't be removed now are removed at the next opening.
  package func collect(_ backend: any StoreBackend) {
    // A snapshot knows only the references at its time.
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
        // An object that takes the value from now on finds it removed, and can't save a reference.
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

/// A claim on all values that a snapshot may refer to: none of them is removed while it exists.
package final class ExternalValuesInUse: Sendable {
  /// The values.
  package let values: ExternalValues
  private let number: UInt64

  /// Keeps the values that rows refer to now, or when the next snapshot is taken.
  package init(_ values: ExternalValues) {
    self.values = values
    number = values.beginSnapshot()
  }

  deinit { values.endSnapshot(number) }
}

/// A stored external value that an object holds.
package final class ExternalValue: Sendable {
  /// The reference in records.
  package let reference: ExternalReference
  /// The values of its backend.
  package let values: ExternalValues
  /// Whether it was stored by this process, and has been held since.
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
  /// - Throws: ``StoreError``, as ``ExternalStorage/open(_:)`` does.
  package func reader() throws(StoreError) -> ExternalReader {
    ExternalReader(try values.storage.open(reference), reference)
  }
}

import StoreEngine

/// The state of a store's migrations, which decides whether the store may be used.
enum MigrationPhase: Equatable {
  /// The state has not been read.
  case unknown
  /// All steps that the store has completed are known, and none is in progress.
  case settled
  /// The store has completed a step that this program doesn't know.
  case outdated(String)
  /// A step is running in this store, and only the step may save.
  case running
}

extension Store {
  /// Throws if a step is unfinished, and determines whether the store may be saved.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `unfinishedMigration`, `damaged`, `ioError` or
  ///   `closed`.
  func checkForUnfinishedMigration() throws(StoreError) {
    guard migrationPhase == .unknown else { return }
    let saved = try backend.savedMigrations()
    if let step = saved.interrupted { throw unfinished(step) }
    let known = backend.coordinator.knownMigrations
    let strange = saved.done.first { !known.contains($0) }
    migrationPhase = strange.map { .outdated($0) } ?? .settled
  }

  /// Throws if a migration forbids saving: it is running, or this program doesn't know it.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `newerVersion` or `unfinishedMigration`.
  @inline(__always)
  func checkSaveByMigrations() throws(StoreError) {
    if case .settled = migrationPhase { return }
    try checkSave()
  }

  private func checkSave() throws(StoreError) {
    // A step may have begun or finished since the last look.
    if migrationPhase != .running { migrationPhase = .unknown }
    try checkForUnfinishedMigration()
    switch migrationPhase {
    case .unknown, .settled: return
    case .running:
      throw StoreError(
        .unfinishedMigration,
        "A migration saves by itself, batch by batch: don't save in a step, nor in a delegate.",
        at: .init(path: backend.location))
    case .outdated(let step): throw outdated(by: step)
    }
  }

  func outdated(by step: String) -> StoreError {
    StoreError(
      .newerVersion,
      """
      The store has been migrated by "\(step)", which this program doesn't know. Use the later \
      program, or pass this step to migrate(_:registering:).
      """, at: .init(path: backend.location))
  }

  private func unfinished(_ step: String) -> StoreError {
    StoreError(
      .unfinishedMigration,
      """
      The migration "\(step)" was interrupted. Finish it by migrate(_:registering:), or by \
      stored-objects migrate if that began it.
      """, at: .init(path: backend.location))
  }
}

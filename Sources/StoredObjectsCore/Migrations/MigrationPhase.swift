import StoreEngine

/// Whether a store may be used, as far as its migrations say.
enum MigrationPhase: Equatable {
  /// Nobody has looked.
  case unknown
  /// All steps that the store has taken are known, and none is under way.
  case settled
  /// The store has taken a step that this program doesn't know.
  case outdated(String)
  /// A step is under way here, which alone may save.
  case running
}

extension Store {
  /// Refuses a store with a step that is not finished, and finds out whether it may be saved.
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

  /// Refuses to save beside a migration, or after one that this program doesn't know.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `newerVersion` or `unfinishedMigration`.
  @inline(__always)
  func checkSaveByMigrations() throws(StoreError) {
    if case .settled = migrationPhase { return }
    try checkSave()
  }

  private func checkSave() throws(StoreError) {
    // A step may have begun, or been finished, since somebody looked.
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

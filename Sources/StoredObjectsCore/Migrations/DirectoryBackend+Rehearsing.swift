import Files
import FoundationEssentials
public import StoreEngine

extension DirectoryBackend {
  /// Runs the steps of a migration on a copy of the store, and reports the changes.
  ///
  ///     let backend = try TokyoCabinetBackend(directory: "Music", configuration: .init(access: .readOnly))
  ///     print(try backend.rehearse(migrations, registering: [Track.self, Artist.self]))
  ///
  /// The store itself does not change, and may be open for reading only. The copy is created next
  /// to it, and removed at the end. Commits wait while the copy is made. Don't save until this
  /// method returns, or the report includes those changes.
  ///
  /// Complexity: That of ``Store/migrate(_:registering:progress:)``, of a copy, and of reading
  /// both.
  ///
  /// - Parameters:
  ///   - migrations: All steps, in order.
  ///   - types: The classes of the program.
  ///   - key: The key of an encrypted store.
  ///   - progress: Called after each batch with the progress of the step.
  /// - Returns: The steps that would run, and the changes.
  /// - Throws: The errors of ``Store/migrate(_:registering:progress:)`` and of the steps, and
  ///   ``/StoreEngine/StoreError`` with `noSpace`.
  public func rehearse(
    _ migrations: [Migration], registering types: [StoredObject.Type],
    key: (any StoreKey)? = nil,
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> MigrationReport {
    try rehearse(key) { store in
      try store.migrate(migrations, registering: types, progress: progress)
    }
  }

  /// Rehearses steps whose names the store does not record.
  ///
  /// - Throws: The errors of ``rehearse(_:registering:key:progress:)``.
  package func rehearseOnce(
    _ migrations: [Migration], key: (any StoreKey)?
  ) throws -> MigrationReport {
    try rehearse(key) { store in
      try store.migrateOnce(migrations)
      return migrations.map(\.name)
    }
  }

  private func rehearse(
    _ key: (any StoreKey)?, _ migrate: (Store) throws -> [String]
  ) throws -> MigrationReport {
    let directory = "\(location).rehearsal-\(UInt32.random(in: 0 ... .max))"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try backup(to: directory) { _ in }
    let copy = try Self(
      directory: directory, access: .readWrite, createIfMissing: false, durability: .none,
      limits: CheckpointLimits(), key: key)
    defer { try? copy.close() }
    let store = Store(backend: copy)
    let steps = try migrate(store)
    var comparison = MigrationComparison(before: Store(backend: self), after: store)
    return try comparison.report(steps)
  }
}

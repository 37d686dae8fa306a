import Files
import FoundationEssentials
public import StoreEngine

extension DirectoryBackend {
  /// Takes the steps of a migration on a copy of the store, and reports what they change.
  ///
  ///     let backend = try TokyoCabinetBackend(directory: "Music", access: .readOnly)
  ///     print(try backend.rehearse(migrations, registering: [Track.self, Artist.self]))
  ///
  /// The store itself stays as it is, and may be open for reading only. The copy is made beside it
  /// and removed at the end. Commits wait while it is made; don't save until this returns, or the
  /// report has those changes, too.
  ///
  /// Complexity: that of ``Store/migrate(_:registering:progress:)``, of a copy, and of reading
  /// both.
  ///
  /// - Parameters:
  ///   - migrations: All steps, in order.
  ///   - types: The classes of the program.
  ///   - key: The key of an encrypted store.
  ///   - progress: Hears after each batch how far a step has come.
  /// - Returns: The steps that would be taken, and the changes.
  /// - Throws: ``/StoreEngine/StoreError`` as ``Store/migrate(_:registering:progress:)``, and
  ///   `noSpace`; what the steps throw.
  public func rehearse(
    _ migrations: [Migration], registering types: [StoredObject.Type],
    key: (any StoreKey)? = nil,
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> MigrationReport {
    try rehearse(key) { store in
      try store.migrate(migrations, registering: types, progress: progress)
    }
  }

  /// The same of steps without names that the store keeps.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` as the other.
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

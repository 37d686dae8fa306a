import FoundationEssentials
public import StoredObjectsCore

/// The stores that released versions of a program have written, for tests of its migrations.
///
///     let names = try FixtureStores.open(
///       in: "Tests/Fixtures", backend: { try TokyoCabinetBackend(directory: $0) },
///       migrations: migrations, registering: [Track.self, Artist.self]
///     ) { name, store in
///       let count = try store.count(of: Track.self)
///       #expect(count == 3)
///     }
///     #expect(names == ["1.0", "1.1", "2.0"])
///
/// Each directory in the folder is a store. Add one with each release that changes a class, for
/// example with `backup(to: "Tests/Fixtures/2.1")`.
public enum FixtureStores {
  /// Migrates a copy of each store, checks it, reopens it, and calls a closure with it.
  ///
  /// Complexity: linear in the size of the stores, which are copied and checked; plus that of the
  /// migrations.
  ///
  /// - Parameters:
  ///   - folder: The folder with a directory for each store. It does not change.
  ///   - open: Opens a directory for writing.
  ///   - migrations: The steps of the program.
  ///   - types: The classes of the program.
  ///   - body: Receives the name of each directory, and the store.
  /// - Returns: The names of the directories, in order.
  /// - Throws: ``ConformanceFailure`` if there is no store, if a store is not sound after the
  ///   migration, or if a second migration would change anything. Also the errors of the
  ///   migrations, of the backend and of the closure.
  @discardableResult
  public static func open(
    in folder: String, backend open: (String) throws -> any StoreBackend,
    migrations: [Migration], registering types: [StoredObject.Type],
    _ body: (_ name: String, _ store: Store) throws -> Void
  ) throws -> [String] {
    let files = FileManager.default
    let names = try files.contentsOfDirectory(atPath: folder).sorted().filter { name in
      var isDirectory = false
      return files.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isDirectory)
        && isDirectory
    }
    try expect(!names.isEmpty, "There is no store in \(folder).")
    for name in names {
      let copy = "\(files.temporaryDirectory.path)/fixture-\(UInt64.random(in: 0 ... .max))"
      defer { try? files.removeItem(atPath: copy) }
      try files.copyItem(atPath: "\(folder)/\(name)", toPath: copy)
      try migrate(name, { try open(copy) }, migrations, types, body)
    }
    return names
  }

  private static func migrate(
    _ name: String, _ open: () throws -> any StoreBackend, _ migrations: [Migration],
    _ types: [StoredObject.Type], _ body: (String, Store) throws -> Void
  ) throws {
    let first = try open()
    do {
      let store = Store(backend: first)
      try store.migrate(migrations, registering: types)
      let findings = try store.check().findings
      try expect(findings.isEmpty, "\(name) is not sound after its migration: \(findings)")
    } catch {
      try? first.close()
      throw error
    }
    try first.close()
    let second = try open()
    defer { try? second.close() }
    let store = Store(backend: second)
    let number = second.lastCommitNumber
    let taken = try store.migrate(migrations, registering: types)
    try expect(taken.isEmpty, "\(name) takes steps a second time: \(taken)")
    try expect(second.lastCommitNumber == number, "\(name) is changed by a second migration")
    try body(name, store)
  }
}

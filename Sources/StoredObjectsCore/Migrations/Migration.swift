/// A step that migrates a store from one version of a program to the next.
///
///     let migrations = [
///       Migration("artists are objects") { migration in
///         try migration.forEach(Song.self) { song, old in
///           guard let name = try old.value("artistName", as: String.self) else { return }
///           song.artist = try migration.store.insertOrUpdate(Artist(name: name))
///         }
///       },
///       .rename("Playlist", to: "Mixtape"),
///       .retire("Genre"),
///     ]
///     try store.migrate(migrations, registering: [Song.self, Artist.self, Mixtape.self])
///
/// A store records the names of the steps that it has completed, so each step runs once. Keep all
/// steps in the program, in their order, and add new ones at the end. See <doc:MigratingAStore>.
public struct Migration: Sendable {
  /// The name that identifies the step in a store.
  public let name: String
  let action: Action

  enum Action: Sendable {
    case objects(@Sendable (MigrationContext) throws -> Void)
    case rename(String, to: String)
    case retire(String)

    /// Whether the step runs before the classes are registered.
    var isRename: Bool { if case .rename = self { true } else { false } }
  }

  /// Creates a step that reads and changes objects.
  ///
  /// The closure may run again after an interruption. It then skips the passes that it has
  /// finished, see ``MigrationContext``.
  ///
  /// - Parameters:
  ///   - name: A name that no other step of the program has.
  ///   - body: Changes objects.
  public init(_ name: String, _ body: @escaping @Sendable (MigrationContext) throws -> Void) {
    (self.name, action) = (name, .objects(body))
  }

  private init(_ name: String, _ action: Action) { (self.name, self.action) = (name, action) }

  /// Creates a step that renames a class in the store.
  ///
  /// Objects of the class keep their rows, and references to them stay valid. Indexes are kept,
  /// unless the layout of the class changes, too: then they are rebuilt when they are first used.
  ///
  /// Renames run before all other steps, because the classes are then registered by their new
  /// names. The step does nothing if the store does not have the class.
  ///
  /// Complexity: Linear in the number of records of the class and of keys in its indexes, which are
  /// moved in batches.
  ///
  /// - Parameters:
  ///   - oldName: The old name, see ``StoredObject/storedName``.
  ///   - newName: The new name.
  /// - Returns: The step, with a name such as "rename Song to Track".
  public static func rename(_ oldName: String, to newName: String) -> Migration {
    Migration("rename \(oldName) to \(newName)", .rename(oldName, to: newName))
  }

  /// Creates a step that removes a class from the store: its objects, indexes and layouts.
  ///
  /// The class must not be registered. Its class ID is not used again, so that a remaining
  /// reference leads to no object of another class. The step does nothing if the store does not
  /// have the class.
  ///
  /// Complexity: Linear in the number of objects. Memory: 20 bytes for each object.
  ///
  /// - Parameter className: The name in the store.
  /// - Returns: The step, with a name such as "retire Genre".
  public static func retire(_ className: String) -> Migration {
    Migration("retire \(className)", .retire(className))
  }
}

/// The progress of a migration.
public struct MigrationProgress: Sendable, Hashable {
  /// The name of the step.
  public let step: String
  /// The class whose objects the step visits.
  public let className: String
  /// The number of objects that the pass has visited, including those before an interruption.
  public let done: Int
  /// The number of objects that the pass visits.
  public let total: Int
}

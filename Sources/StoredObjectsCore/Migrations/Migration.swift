/// A step that brings a store from one version of a program to the next.
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
/// A store keeps the names of the steps that it has taken, and takes each once. Keep all steps in
/// the program, in their order, and add new ones at the end. See <doc:MigratingAStore>.
public struct Migration: Sendable {
  /// The name by which a store knows the step.
  public let name: String
  let action: Action

  enum Action: Sendable {
    case objects(@Sendable (MigrationContext) throws -> Void)
    case rename(String, to: String)
    case retire(String)

    /// Whether the step comes before the classes are registered.
    var isRename: Bool { if case .rename = self { true } else { false } }
  }

  /// A step that reads and changes objects.
  ///
  /// The closure may run again after an interruption. Passes that it has finished are then left
  /// out, see ``MigrationContext``.
  ///
  /// - Parameters:
  ///   - name: A name that no other step of the program has.
  ///   - body: Changes objects.
  public init(_ name: String, _ body: @escaping @Sendable (MigrationContext) throws -> Void) {
    (self.name, action) = (name, .objects(body))
  }

  private init(_ name: String, _ action: Action) { (self.name, self.action) = (name, action) }

  /// A step that renames a class in the store.
  ///
  /// Its objects keep their rows, and references to them stay valid. Indexes are kept, unless the
  /// layout of the class changes, too: they are then rebuilt when they are first used. Renames come
  /// before all other steps, because the classes are then registered by their new names. A store
  /// without the class is left as it is.
  ///
  /// Complexity: linear in the records of the class and the keys of its indexes, which are moved in
  /// batches.
  ///
  /// - Parameters:
  ///   - oldName: The name until now, see ``StoredObject/storedName``.
  ///   - newName: The name from now on.
  /// - Returns: The step, with the name "rename Song to Track".
  public static func rename(_ oldName: String, to newName: String) -> Migration {
    Migration("rename \(oldName) to \(newName)", .rename(oldName, to: newName))
  }

  /// A step that removes a class from the store: its objects, indexes and layouts.
  ///
  /// The class must not be registered. Its class ID is not used again, so that a reference that is
  /// left over leads to no object of another class. A store without the class is left as it is.
  ///
  /// Complexity: linear in the number of objects; 20 bytes of memory for each.
  ///
  /// - Parameter className: The name in the store.
  /// - Returns: The step, with the name "retire Genre".
  public static func retire(_ className: String) -> Migration {
    Migration("retire \(className)", .retire(className))
  }
}

/// How far a migration has come.
public struct MigrationProgress: Sendable, Hashable {
  /// The name of the step.
  public let step: String
  /// The class whose objects are being visited.
  public let className: String
  /// The number of objects that the pass has visited, those before an interruption included.
  public let done: Int
  /// The number of objects that the pass visits.
  public let total: Int
}

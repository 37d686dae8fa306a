public import StoreEngine

/// A backend and its classes, for use from any number of tasks.
///
///     let container = try StoreContainer(
///       backend: TokyoCabinetBackend(directory: "Music"), classes: [Song.self, Playlist.self])
///
///     try await container.write { store in
///       let song = Song()
///       song.title = "Walking on Sunshine"
///       store.insert(song)
///     }
///     let titles = try await container.read { store in
///       try store.allObjects(of: Song.self).map(\.title)
///     }
///
/// A ``Store`` belongs to one isolation domain. A container has as many stores as it needs, each on
/// its own thread, so no thread of Swift's pool ever waits for the disk.
///
/// - ``read(_:)`` sees the data as of one commit. Several reads run at the same time, and none
///   waits for a write.
/// - ``write(_:)`` saves all changes of its closure, or none. Writes run one after the other.
///   Writes that wait at the same time share a commit, and with it a sync of the disk.
/// - ``makeStore()`` and ``makeActor(autosave:mergesAutomatically:)`` give you stores of your own,
///   for the main actor or for long work.
///
/// See <doc:SharingAStore>.
public final class StoreContainer: Sendable {
  /// The backend that holds the records.
  public let backend: any StoreBackend
  /// The classes that are registered with every store of the container.
  public var classes: [StoredObject.Type] { recipe.classes }
  /// The configuration of the container's stores.
  public var configuration: StoreConfiguration { recipe.configuration }

  private let recipe: StoreRecipe
  let readers: ReaderPool
  let writes = WriteQueue()
  let writer: StoreActor
  private let autosavingActors = AutosavingActors()

  /// Creates a container, and checks that the backend can hold the classes.
  ///
  /// The container takes threads when it needs them, and holds none while it is idle.
  ///
  /// Complexity: linear in the number of classes.
  ///
  /// - Parameters:
  ///   - backend: The backend that holds the records.
  ///   - classes: The classes to register; as for ``Store/register(_:)-(StoredObject....)``, their
  ///     order does not matter.
  ///   - configuration: The configuration of the stores.
  ///   - readerCount: The maximum number of concurrent reads, at least 1. Each takes a thread.
  /// - Throws: ``/StoreEngine/StoreError``, as ``Store/register(_:)-(StoredObject....)``.
  public init(
    backend: any StoreBackend, classes: [StoredObject.Type],
    configuration: StoreConfiguration = .init(), readerCount: Int = 4
  ) throws(StoreError) {
    self.backend = backend
    recipe = StoreRecipe(classes: classes, configuration: configuration)
    readers = ReaderPool(backend, recipe, count: max(1, readerCount))
    writer = StoreActor(backend, recipe)
    _ = try recipe.makeStore(on: backend)
  }

  /// Creates a store with all classes, for the isolation domain of the caller.
  ///
  ///     @MainActor final class Library {
  ///       let store: Store
  ///       init(_ container: StoreContainer) throws { store = try container.makeStore() }
  ///     }
  ///
  /// Complexity: linear in the number of classes.
  ///
  /// - Throws: ``/StoreEngine/StoreError``, as ``Store/register(_:)-(StoredObject....)``.
  public func makeStore() throws(StoreError) -> sending Store {
    try recipe.makeStore(on: backend)
  }

  /// Creates an actor with its own store, which keeps its objects between calls.
  ///
  ///     let editor = container.makeActor(
  ///       autosave: .after(.seconds(2)) { _, error in logger.error("\(error)") })
  ///
  /// Complexity: constant time; with an autosave, linear in the number of such actors.
  ///
  /// - Parameters:
  ///   - autosave: When the actor saves automatically; nil if you save.
  ///   - mergesAutomatically: Whether each call begins with a merge of what other stores have saved,
  ///     so that it sees the last commit. Objects with unsaved changes are left alone.
  /// - Returns: The actor, which takes a thread for its calls.
  public func makeActor(
    autosave: Autosave? = nil, mergesAutomatically: Bool = false
  ) -> StoreActor {
    let actor = StoreActor(backend, recipe, autosave, mergesAutomatically: mergesAutomatically)
    if autosave != nil { autosavingActors.append(actor) }
    return actor
  }

  /// Returns the data as of the last commit, for as long as you hold the snapshot.
  ///
  /// Complexity: linear in the number of classes and indexes, see
  /// ``/StoreEngine/StoreBackend/snapshot()``.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `ioError`, `damaged` or `closed`.
  public func snapshot() throws(StoreError) -> StoreSnapshot {
    StoreSnapshot(try backend.snapshot(), recipe)
  }

  /// Returns the data as of an earlier commit, for as long as you hold the snapshot.
  ///
  /// The store has to keep a history, see <doc:KeepingAHistory>.
  ///
  /// Complexity: linear in the entries of the history behind the commit.
  ///
  /// - Parameter number: The last commit that counts.
  /// - Returns: The snapshot.
  /// - Throws: ``/StoreEngine/StoreError`` with `historyExpired`, `invalidArgument`, `ioError`,
  ///   `damaged` or `closed`, see ``/StoreEngine/StoreBackend/snapshot(asOf:)``.
  public func snapshot(asOf number: UInt64) throws(StoreError) -> StoreSnapshot {
    StoreSnapshot(try backend.snapshot(asOf: number), recipe)
  }

  /// Runs a closure with the backend, on its own thread, for long work.
  ///
  ///     try await container.withBackend { backend in
  ///       try (backend as? any DirectoryBackend)?.checkpoint()
  ///     }
  ///
  /// Use it for checks, backups, checkpoints and compactions.
  ///
  /// Complexity: that of the closure; takes a thread.
  ///
  /// - Throws: Any error that the closure throws.
  public func withBackend<Value: Sendable>(
    _ body: @Sendable (any StoreBackend) throws -> Value
  ) async rethrows -> Value {
    try await makeActor().run { [backend] in try body(backend) }
  }

  /// Waits for the writes that have begun, and closes the backend.
  ///
  /// Actors with an ``Autosave`` save their changes. Later reads and writes throw `closed`.
  ///
  /// Complexity: linear in the number of unsaved changes of its actors.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `ioError`; nothing that was saved is lost.
  public func close() async throws {
    await autosavingActors.saveNow()
    try await writer.closeBackend()
  }
}

/// The classes and the configuration that a container creates stores with.
package struct StoreRecipe: Sendable {
  let classes: [StoredObject.Type]
  let configuration: StoreConfiguration

  /// Creates a recipe.
  package init(classes: [StoredObject.Type], configuration: StoreConfiguration = .init()) {
    (self.classes, self.configuration) = (classes, configuration)
  }

  /// Creates a store with all classes.
  ///
  /// - Throws: ``/StoreEngine/StoreError``, as ``Store/register(_:)-(StoredObject....)``.
  package func makeStore(on backend: any StoreBackend) throws(StoreError) -> sending Store {
    let store = Store(backend: backend, configuration: configuration)
    try store.register(classes)
    return store
  }
}

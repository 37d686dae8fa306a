package import StoredObjectsCore

/// The location of one run's records, in which stores can be opened repeatedly.
package final class Workspace {
  private let engine: any Engine
  private let directory: String
  private let durability: Durability
  /// The number of operations of a workload whose count is the number of something else.
  let operations: Int
  /// The times of its operations, if the workload measures them.
  var latencies = LatencyRecorder()
  private var kept: [Any] = []

  /// Creates a workspace, and opens nothing yet.
  package init(
    engine: any Engine, directory: String, durability: Durability, operations: Int = 0
  ) {
    self.engine = engine
    self.operations = operations
    self.directory = directory
    self.durability = durability
  }

  /// Opens a store, runs the body, and closes the store.
  ///
  /// - Parameters:
  ///   - classes: The classes of the store.
  ///   - body: Called with the store.
  /// - Throws: An error of the store or of the body.
  package func withStore(
    of classes: [StoredObject.Type] = [Song.self, Playlist.self], _ body: (Store) throws -> Void
  ) throws {
    let store = try openStore(of: classes)
    try body(store)
    try store.backend.close()
  }

  /// Opens a store that is never closed.
  func openStore(
    of classes: [StoredObject.Type] = [Song.self, Playlist.self]
  ) throws -> Store {
    let store = Store(backend: try openBackend())
    try store.register(classes)
    return store
  }

  /// Returns a separate workspace inside this one.
  func part(_ number: Int) -> Workspace {
    Workspace(engine: engine, directory: "\(directory)/\(number)", durability: durability)
  }

  /// Opens only the backend.
  func openBackend() throws -> any StoreBackend { try engine.open(directory, durability) }

  /// Keeps objects alive until the process ends.
  func keep(_ objects: [some AnyObject]) { kept.append(objects) }
}

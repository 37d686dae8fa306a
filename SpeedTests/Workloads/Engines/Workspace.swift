package import StoredObjectsCore

/// Where one run keeps its records; a store can be opened in it again and again.
package final class Workspace {
  private let engine: any Engine
  private let directory: String
  private let durability: Durability
  /// How many operations a run of a workload does whose count is that of something else.
  let operations: Int
  /// How long its operations took, if the workload measures them.
  var latencies = LatencyRecorder()
  private var kept: [Any] = []

  /// Names a place; nothing is opened yet.
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
  ///   - classes: the classes of the store.
  ///   - body: what is done with the store.
  /// - Throws: what the store or the body throws.
  package func withStore(
    of classes: [StoredObject.Type] = [Song.self, Playlist.self], _ body: (Store) throws -> Void
  ) throws {
    let store = try openStore(of: classes)
    try body(store)
    try store.backend.close()
  }

  /// Opens a store that nobody closes.
  func openStore(
    of classes: [StoredObject.Type] = [Song.self, Playlist.self]
  ) throws -> Store {
    let store = Store(backend: try openBackend())
    try store.register(classes)
    return store
  }

  /// A place of its own inside of this one.
  func part(_ number: Int) -> Workspace {
    Workspace(engine: engine, directory: "\(directory)/\(number)", durability: durability)
  }

  /// Opens the backend alone.
  func openBackend() throws -> any StoreBackend { try engine.open(directory, durability) }

  /// Holds objects until the process ends.
  func keep(_ objects: [some AnyObject]) { kept.append(objects) }
}

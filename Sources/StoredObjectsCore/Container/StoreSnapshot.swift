public import StoreEngine

/// The data of a store as of one commit, for as long as you hold it.
///
///     let snapshot = try container.snapshot()
///     // Others save meanwhile.
///     let store = try snapshot.makeStore()
///     let count = try store.count(of: Song.self)
///
/// Queries, indexes and searches see the same commit. Saving throws `readOnly`.
///
/// A snapshot copies nothing. It keeps files that have since been replaced on the disk, and the log
/// entries that they lack in memory. On a server, it keeps a connection and its transaction. Release
/// it when you are done. You can use it from any task.
public struct StoreSnapshot: Sendable {
  /// The backend of the snapshot, for reading only.
  public let backend: any StoreBackend
  private let recipe: StoreRecipe

  init(_ backend: any StoreBackend, _ recipe: StoreRecipe) {
    (self.backend, self.recipe) = (backend, recipe)
  }

  /// The number of the last commit in the snapshot; 0 if there is none.
  public var commitNumber: UInt64 { backend.lastCommitNumber }

  /// Creates a store that reads the snapshot, for the isolation domain of the caller.
  ///
  /// Complexity: linear in the number of classes.
  ///
  /// - Throws: ``/StoreEngine/StoreError``, as ``Store/register(_:)-(StoredObject....)``.
  public func makeStore() throws(StoreError) -> sending Store {
    try recipe.makeStore(on: backend)
  }
}

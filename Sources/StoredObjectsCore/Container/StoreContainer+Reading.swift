import StoreEngine

extension StoreContainer {
  /// Runs a closure with a store that sees the data as of the last commit.
  ///
  ///     let names = try await container.read { store in
  ///       guard let list = try store.object(id) else { return [] }
  ///       return list.songs.map(\.title)
  ///     }
  ///
  /// The closure sees nothing that is saved later. It runs on a thread of the container,
  /// concurrently with other reads and writes. Return values that you make from objects; the
  /// objects stay in the store. If a property needs a record that can't be read, the read throws at
  /// its end, so you never continue with a default value.
  ///
  /// When the closure ends, the store releases its objects, including those in reference cycles.
  ///
  /// Complexity: that of the closure, and linear in the number of objects that it leaves in memory.
  /// The first read after a commit also makes a snapshot and a store, linear in the number of
  /// classes and indexes. A read waits while all readers are busy.
  ///
  /// - Parameter body: Reads; it may fetch, follow references, query and search.
  /// - Returns: The result of the closure.
  /// - Throws: Any error that the closure throws; ``/StoreEngine/StoreError`` with
  ///   `contentUnavailable` if a record could not be read, `readOnly` if the closure has changed an
  ///   object, `ioError` or `damaged` if the snapshot could not be made, or `closed`; the errors of
  ///   registering the classes; `CancellationError` if the task was cancelled before the closure
  ///   began.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (Store) throws -> Value
  ) async throws -> Value {
    let reader = try await readers.take()
    defer { readers.putBack(reader) }
    return try await reader.read(body)
  }
}

extension StoreError {
  /// Returns the error of a read or write in which a property has returned its default.
  static func unreadable(_ failure: FetchFailure) -> StoreError {
    StoreError(
      .contentUnavailable, "A record could not be read, so a property gave its default.",
      at: failure.error.location, underlying: failure.error)
  }
}

extension Store {
  /// Releases objects in reference cycles, at the end of a scope that no object leaves.
  func releaseObjects() {
    if classes.contains(where: { $0.livingCount > 0 }) { dissolveAllRelationships() }
  }
}

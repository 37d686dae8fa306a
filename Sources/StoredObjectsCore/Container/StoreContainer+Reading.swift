import StoreEngine

extension StoreContainer {
  /// Runs a closure with a store that sees the data as of the last commit, and nothing later.
  ///
  ///     let names = try await container.read { store in
  ///       let list = try store.object(Playlist.self, rowID: id)
  ///       return list.songs.map(\.title)
  ///     }
  ///
  /// The closure runs on a thread of the container, beside other reads and writes. Return values
  /// that you make of objects; the objects stay in the store. A record that a property needs and
  /// that can't be read is an error at the end, so you never go on with a default.
  ///
  /// When the closure ends, the store lets go of its objects, also of those that refer to each other
  /// in cycles.
  ///
  /// - Parameter body: Reads; it may fetch, follow references, query and search.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws; ``/StoreEngine/StoreError`` with `contentUnavailable` when a
  ///   record could not be read, `readOnly` when the closure has changed an object, `closed`;
  ///   `CancellationError` when the task was cancelled before the closure began.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (Store) throws -> Value
  ) async throws -> Value {
    let reader = try await readers.take()
    defer { readers.putBack(reader) }
    return try await reader.read(body)
  }
}

extension StoreError {
  /// The error of a scope in which a property has given its default.
  static func unreadable(_ failure: FetchFailure) -> StoreError {
    StoreError(
      .contentUnavailable, "A record could not be read, so a property gave its default.",
      at: failure.error.location, underlying: failure.error)
  }
}

extension Store {
  /// Lets go of objects that hold each other, at the end of a scope that nobody keeps objects from.
  func releaseObjects() {
    if classes.contains(where: { $0.livingCount > 0 }) { dissolveAllRelationships() }
  }
}

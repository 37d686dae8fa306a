public import StoreEngine

/// A change of a key or a table by a write.
public struct KeyValueChange: Sendable, Hashable {
  /// The kind of a change.
  public enum Kind: Sendable, Hashable {
    /// The key has a new value.
    case put
    /// The key was deleted.
    case deleted
    /// The key had expired, and has been removed.
    case expired
    /// All keys of the table were deleted.
    case cleared
    /// The table was created.
    case created
    /// The table was dropped.
    case dropped
  }

  /// The kind of the change.
  public let kind: Kind
  /// The name of the table.
  public let table: String
  /// The key; nil for a change of the whole table.
  public let key: String?

  init(_ kind: Kind, _ table: String, _ key: String?) {
    (self.kind, self.table, self.key) = (kind, table, key)
  }
}

/// A sequence of the changes from now on.
///
/// The sequence misses no change: it keeps changes until you take them. It ends when the store is
/// closed or its table is dropped.
public struct KeyValueChanges: AsyncSequence, Sendable {
  let stream: AsyncStream<KeyValueChange>

  /// An iterator that waits for writes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<KeyValueChange>.AsyncIterator

    /// Returns the next change, or nil at the end.
    ///
    /// Complexity: constant time, after the wait for a change.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> KeyValueChange? { await iterator.next(isolation: actor) }
  }

  /// Returns an iterator that starts with the first change that was not taken yet.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(iterator: stream.makeAsyncIterator())
  }
}

/// A sequence of the current value of a key, and its value after each change.
///
/// A slow consumer gets the newest value, and skips the values before it.
public struct KeyValueUpdates<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  let stream: AsyncStream<KeyValueChange>
  let table: KeyValueTable
  let key: String

  /// An iterator that waits for writes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<KeyValueChange>.AsyncIterator
    fileprivate let table: KeyValueTable
    fileprivate let key: String

    /// Returns the next value, `.some(nil)` if there is no such key, or nil at the end.
    ///
    /// Complexity: As ``KeyValueTable/get(_:as:)``, after the wait for a change.
    ///
    /// - Throws: The errors of ``KeyValueTable/get(_:as:)``.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> Value?? {
      guard await iterator.next(isolation: actor) != nil else { return nil }
      do {
        return .some(try table.get(key, as: Value.self))
      } catch  where error.code == .noSuchTable {
        return nil
      }
    }
  }

  /// Returns an iterator that starts with the current value.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(iterator: stream.makeAsyncIterator(), table: table, key: key)
  }
}

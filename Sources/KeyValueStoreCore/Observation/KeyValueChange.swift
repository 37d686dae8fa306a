public import StoreEngine

/// What a write has done to a key or a table.
public struct KeyValueChange: Sendable, Hashable {
  /// What can happen.
  public enum Kind: Sendable, Hashable {
    /// The key has a new value.
    case put
    /// The key was deleted.
    case deleted
    /// The key had expired, and has been removed.
    case expired
    /// All keys of the table were deleted.
    case cleared
    /// The table was made.
    case created
    /// The table was removed.
    case dropped
  }

  /// What has happened.
  public let kind: Kind
  /// The name of the table.
  public let table: String
  /// The key; nil for what has happened to the whole table.
  public let key: String?

  init(_ kind: Kind, _ table: String, _ key: String?) {
    (self.kind, self.table, self.key) = (kind, table, key)
  }
}

/// What writes do from now on, change by change.
///
/// A listener misses nothing: what it has not taken yet is kept. The sequence ends when the store
/// is closed, or the table it is about is dropped.
public struct KeyValueChanges: AsyncSequence, Sendable {
  let stream: AsyncStream<KeyValueChange>

  /// Waits for writes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<KeyValueChange>.AsyncIterator

    /// The next change; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> KeyValueChange? { await iterator.next(isolation: actor) }
  }

  /// Starts with the first change that was not waited for.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(iterator: stream.makeAsyncIterator())
  }
}

/// The value of a key: what it is now, and what it is after each change.
///
/// Who is slow gets the newest value, and not each one before it.
public struct KeyValueUpdates<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  let stream: AsyncStream<KeyValueChange>
  let table: KeyValueTable
  let key: String

  /// Waits for writes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<KeyValueChange>.AsyncIterator
    fileprivate let table: KeyValueTable
    fileprivate let key: String

    /// The value, or nil inside the optional when there is no such key; nil at the end.
    ///
    /// - Throws: as ``KeyValueTable/get(_:as:)``.
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

  /// Starts with the value as it is.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(iterator: stream.makeAsyncIterator(), table: table, key: key)
  }
}

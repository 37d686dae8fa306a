import StoreEngine

/// The bytes of a history for one follower, as they come.
///
/// Iterate over it once, on one task. It ends when the server closes or after
/// ``HistoryServerLimits/duration``. It throws ``/StoreEngine/StoreError`` if the store can't be
/// read any more, or if the follower was too slow. Break the connection off then, so that the
/// follower knows that the stream is incomplete.
public final class HistoryStream: AsyncSequence, Sendable {
  let session: HistorySession
  private let coordinator: StoreCoordinator
  private let listener: CommitListener
  private let ticker: Task<Void, Never>

  init(_ session: HistorySession, _ coordinator: StoreCoordinator) {
    (self.session, self.coordinator) = (session, coordinator)
    listener = CommitListener({ _ in session.wake() }, didLoseTrack: { session.wake() })
    coordinator.attach(listener)
    // Commits before the listener was attached.
    session.wake()
    ticker = Task {
      while !Task.isCancelled, session.tick() { try? await Task.sleep(for: session.tickInterval) }
    }
  }

  deinit {
    coordinator.detach(listener)
    ticker.cancel()
    session.cancel()
  }

  /// Ends the stream behind the commits that are being sent.
  ///
  /// A first copy that is not complete is cut off.
  public func end() { session.end() }

  /// The number of bytes that wait for the follower.
  public var waitingByteCount: Int { session.waitingByteCount }

  /// Returns the next bytes, and blocks the thread until there are some; nil at the end.
  package func blockingNext() throws -> [UInt8]? { try session.blockingNext() }

  /// Returns an iterator over the parts.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// The parts of a stream, in order.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let stream: HistoryStream

    /// Returns the next bytes; nil at the end.
    ///
    /// Complexity: linear in the size of the bytes, which are read from the store, after the wait
    /// for a commit.
    ///
    /// - Throws: ``/StoreEngine/StoreError``; `CancellationError` if the task is cancelled.
    public mutating func next() async throws -> [UInt8]? { try await stream.session.next() }
  }
}

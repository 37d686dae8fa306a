import FoundationEssentials
import Locks
public import StoreEngine

/// A server that sends the history of a store to followers, over HTTP or any other connection.
///
///     let history = try HistoryServer(backend)
///     // For each request, whose token names the follower:
///     let stream = try await history.stream(HistoryRequest(query), for: "mirror 1")
///     for try await bytes in stream { try await connection.send(bytes) }
///
/// A stream begins after the position of the follower, or with a complete copy. It stays open and
/// brings each commit as it is made. The follower applies it with
/// ``/StoreEngine/StoreFollower``, or with `stored-objects apply`.
///
/// A follower gets the whole store: all classes, buffers and items, the old values in the history,
/// and plain records of an encrypted store. It can't change anything.
///
/// A follower is a consumer of the history, with the name `follower` and its own name, for example
/// `follower mirror 1`. `purgeHistory(keeping:)` keeps what it has not seen, see
/// ``HistoryServerLimits/followerRetention``.
///
/// Memory: for each follower, ``HistoryServerLimits/waitingByteCount`` and about two megabytes and
/// the largest entry of the history. A stream reads the store on a thread of its own, which waits
/// while the follower is slower.
///
/// You can use a server from any thread.
public final class HistoryServer: Sendable {
  /// The limits of the server.
  public let limits: HistoryServerLimits
  private let backend: any StoreBackend
  private let registry = Locked(Registry())

  private struct Registry {
    var sessions: [String: HistorySession] = [:]
    var isClosed = false
  }

  /// Creates a server, and begins a history if the store keeps none.
  ///
  /// The store can itself be a copy that follows another store, if it has its first copy.
  ///
  /// Complexity: one look-up; as a commit of one key if a history begins.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument` if the backend keeps no history;
  ///   `readOnly`, `noSpace`, `ioError`, `damaged` or `closed`.
  public init(
    _ backend: any StoreBackend, limits: HistoryServerLimits = HistoryServerLimits()
  ) throws(StoreError) {
    (self.backend, self.limits) = (backend, limits)
    if try backend.historyStart() == nil { try backend.beginHistory() }
  }

  /// Ends all streams with a complete stream, and refuses new ones.
  ///
  /// Call it when the program shuts down. A follower connects again later. A first copy that is not
  /// complete is cut off, and begins again.
  ///
  /// Complexity: does not wait for the followers.
  public func close() {
    let sessions = registry.withLock { registry in
      registry.isClosed = true
      return Array(registry.sessions.values)
    }
    for session in sessions { session.end() }
  }

  /// The followers that are reading, and the number of the last commit that each was sent.
  public var followers: [String: UInt64] {
    registry.withLock { $0.sessions }.mapValues(\.number)
  }

  /// Begins a stream.
  ///
  /// A follower has one stream: if it has another, for example over a connection that is broken,
  /// that one is cut.
  ///
  /// Complexity: two look-ups in the history, on a thread of the stream.
  ///
  /// - Parameters:
  ///   - request: The position of the follower.
  ///   - follower: The name of the follower, as the server knows it from the token of the request.
  /// - Returns: The stream. Releasing it ends it.
  /// - Throws: ``HistoryRefusal``
  public func stream(
    _ request: HistoryRequest, for follower: String
  ) async throws(HistoryRefusal) -> HistoryStream {
    let stream = try start(request, follower)
    if let error = await stream.session.waitForBeginning() { throw HistoryRefusal(error) }
    return stream
  }

  /// Begins a stream, and blocks the thread until it is known whether it is refused.
  package func blockingStream(
    _ request: HistoryRequest, for follower: String
  ) throws(HistoryRefusal) -> HistoryStream {
    let stream = try start(request, follower)
    if let error = stream.session.blockUntilBeginning() { throw HistoryRefusal(error) }
    return stream
  }

  private func start(
    _ request: HistoryRequest, _ follower: String
  ) throws(HistoryRefusal) -> HistoryStream {
    let session = HistorySession(backend, request, limits) { [backend, limits] number in
      // The disk may be full, which keeps nobody from reading.
      try? backend.noteFollower(follower, number, limits.followerRetention)
    }
    try register(session, follower)
    guard session.start({ [weak self] in self?.remove(session, follower) }) else {
      remove(session, follower)
      throw .busy("The server has no thread left. Try again later.")
    }
    return HistoryStream(session, backend.coordinator)
  }

  private func register(
    _ session: HistorySession, _ follower: String
  ) throws(HistoryRefusal) {
    let earlier = try registry.withLock { (registry) throws(HistoryRefusal) in
      if registry.isClosed { throw .busy("The server is ending. Try again later.") }
      let earlier = registry.sessions[follower]
      guard earlier != nil || registry.sessions.count < limits.followerCount else {
        throw .busy("The server has \(limits.followerCount) followers. Try again later.")
      }
      registry.sessions[follower] = session
      return earlier
    }
    earlier?.replace()
  }

  private func remove(_ session: HistorySession, _ follower: String) {
    registry.withLock { registry in
      if registry.sessions[follower] === session { registry.sessions[follower] = nil }
    }
  }
}

extension StoreBackend {
  /// Keeps the history that a follower has not seen, see `purgeHistory(keeping:)`.
  ///
  /// Each note is a commit, which all followers get. So not every connection makes one.
  fileprivate func noteFollower(
    _ follower: String, _ number: UInt64, _ retention: Duration?
  ) throws(StoreError) {
    // The history of a copy is that of the store that it follows.
    guard let retention, !isReadOnly, try !isFollower() else { return }
    let name = "follower \(follower)"
    let seconds = retention / .seconds(1)
    if let known = try knownHistoryConsumers()[name], let end = known.end {
      let isNear = known.number <= number && number < known.number + 1000
      let isFresh = end.timeIntervalSinceNow > seconds / 2 && end.timeIntervalSinceNow <= seconds
      if isNear, isFresh { return }
    }
    try noteHistorySeen(by: name, through: number, until: Date(timeIntervalSinceNow: seconds))
  }
}

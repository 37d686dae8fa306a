public import Foundation
import Locks
public import StoreEngine
import StoredObjectsCore
import StoredObjectsSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A follower that keeps a copy up to date with the store of a server, over HTTP.
///
///     let copy = try TokyoCabinetBackend(directory: "Music copy", configuration: configuration)
///     let follower = try HTTPFollower(
///       URL(string: "https://example.org/history")!, token: token, target: copy)
///     try await follower.run()
///
/// The server is a `HistoryServer`, for example by `addHistory` of `StoredObjectsSyncServer`. Each
/// commit is applied exactly once, by ``/StoreEngine/StoreFollower``, whatever happens to the
/// connection. Stores can read the copy meanwhile. Use HTTPS outside of your own machine: the token
/// and the records are sent as they are.
///
/// Memory: the largest commit, and the bytes that arrive faster than they are applied, see
/// ``HTTPFollowerConfiguration/waitingByteCount``. For the first copy of a store that is larger than
/// memory, use `curl` and `stored-objects apply`, whose pipe makes the server wait.
///
/// You can use a follower from any thread; it applies commits on a thread of its own.
public actor HTTPFollower {
  private let url: URL
  private let token: String
  private let target: any StoreBackend
  private let configuration: HTTPFollowerConfiguration
  private let executor = ThreadExecutor()
  private nonisolated let progress = Locked(HTTPFollowerStatus())
  private var isRunning = false

  /// The executor of the follower's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  /// Creates a follower; nothing is sent yet.
  ///
  /// Complexity: as ``/StoreEngine/StoreFollower/init(_:source:)``.
  ///
  /// - Parameters:
  ///   - url: The address of the server's history.
  ///   - token: The secret of the follower, sent as a bearer token.
  ///   - target: The copy, or an empty backend. A first copy that was not finished begins again.
  ///   - configuration: How the copy follows.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument` for a store that follows no other
  ///   store, and for a backend that can't keep a history; `damaged`, `ioError` or `closed`.
  public init(
    _ url: URL, token: String, target: any StoreBackend,
    configuration: HTTPFollowerConfiguration = HTTPFollowerConfiguration()
  ) throws(StoreError) {
    (self.url, self.token, self.target) = (url, token, target)
    self.configuration = configuration
    try target.removeUnfinishedCopy()
    let position = try StoreFollower(target).position()
    progress.withLock { $0.commitNumber = position?.number ?? 0 }
  }

  /// The progress of the copy, from any thread.
  public nonisolated var status: HTTPFollowerStatus { progress.withLock { $0 } }

  /// Follows the store until the task is cancelled.
  ///
  /// If the connection breaks, or the server is away, or the disk is full, it tries again, see
  /// ``HTTPFollowerConfiguration/minimumDelay``.
  ///
  /// Complexity: linear in the bytes of the commits, and a commit of the copy for each.
  ///
  /// - Throws: `CancellationError`; ``HTTPFollowerError/refused(status:)`` for a wrong token or
  ///   address; ``/StoreEngine/StoreError`` with `historyExpired` if the server no longer has the
  ///   commits after the copy; `otherHistory` if it has another store; `damaged` if the copy differs
  ///   from the store; `invalidArgument` if the follower is already running; an error of a commit;
  ///   an error of the connection that needs a change, for example of a certificate.
  public func run() async throws {
    try begin()
    defer { end() }
    var backoff = Backoff(configuration)
    while true {
      let (start, known) = (ContinuousClock.now, status.commitNumber)
      let failure: (any Error)?
      do {
        try await read(untilCaughtUp: false)
        failure = nil
      } catch {
        failure = error
      }
      try Task.checkCancellation()
      if let failure, !Self.isTemporary(failure) { throw failure }
      if status.commitNumber != known || .now - start > .seconds(10) { backoff.reset() }
      // The usual end of a stream after a time.
      if failure == nil, .now - start > .seconds(1) { continue }
      let delay = backoff.next()
      if let failure { configuration.didFail(failure, delay) }
      try await Task.sleep(for: delay)
    }
  }

  /// Applies all commits that the server has, and ends.
  ///
  /// Complexity: as ``run()``, with one connection.
  ///
  /// - Returns: The number of the last commit in the copy.
  /// - Throws: As ``run()``, and the errors after which that tries again.
  @discardableResult
  public func catchUp() async throws -> UInt64 {
    try begin()
    defer { end() }
    try await read(untilCaughtUp: true)
    try Task.checkCancellation()
    return status.commitNumber
  }

  private func begin() throws(StoreError) {
    if isRunning {
      throw StoreError(
        .invalidArgument, "The follower is already running. Cancel its task first.",
        at: .init(path: target.location))
    }
    isRunning = true
  }

  private func end() { isRunning = false }

  // MARK: One connection

  private func read(untilCaughtUp: Bool) async throws {
    do {
      try await readParts(untilCaughtUp)
      progress.withLock { $0.isConnected = false }
    } catch {
      progress.withLock { ($0.isConnected, $0.failure) = (false, error) }
      throw error
    }
  }

  private func readParts(_ untilCaughtUp: Bool) async throws {
    try target.removeUnfinishedCopy()
    // Another object, because a stream that was cut can't be continued.
    var follower = try StoreFollower(target, source: url.absoluteString)
    let position = try follower.position()
    let download = HistoryDownload(request(after: position))
    do {
      for try await part in download.parts {
        try follower.apply(part)
        download.use(part.count)
        try note(follower)
        // Each connection brings at least one commit, however large it is.
        if let position, status.commitNumber > position.number {
          download.limit(to: configuration.waitingByteCount)
        }
        if untilCaughtUp, isCaughtUp { return }
      }
    } catch let answer as HistoryStatus { throw error(of: answer, position) }
    try Task.checkCancellation()
    do { try follower.finish() } catch { throw HTTPFollowerError.cutOff }
  }

  private func note(_ follower: StoreFollower) throws(StoreError) {
    let number = try follower.position()?.number ?? 0
    progress.withLock { status in
      status.isConnected = true
      status.failure = nil
      status.commitNumber = number
      if let source = follower.sourceCommitNumber {
        status.sourceCommitNumber = max(source, number)
      }
    }
  }

  private var isCaughtUp: Bool {
    let status = status
    return status.commitNumber > 0 && status.sourceCommitNumber == status.commitNumber
  }

  private func request(after position: HistoryPosition?) -> URLRequest {
    var components = URLComponents(url: url, resolvingAgainstBaseURL: true) ?? URLComponents()
    let items = HistoryRequest(after: position).parameters.map(URLQueryItem.init)
    if !items.isEmpty { components.queryItems = (components.queryItems ?? []) + items }
    var request = URLRequest(
      url: components.url ?? url, timeoutInterval: configuration.timeout / .seconds(1))
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    return request
  }

  // MARK: Errors

  private func error(of answer: HistoryStatus, _ position: HistoryPosition?) -> any Error {
    switch answer.status {
    case 409:
      StoreError(
        .otherHistory,
        """
        The server has another store, or its store went back to an earlier state. The copy is at \
        \(position.map { "\($0)" } ?? "no commit"). Make a new copy.
        """,
        at: .init(path: target.location))
    case 410:
      StoreError(
        .historyExpired,
        """
        The server no longer has the commits after those of the copy, which is at \
        \(position.map { "\($0)" } ?? "no commit"). Make a new copy.
        """,
        at: .init(path: target.location))
    default: answer.error
    }
  }

  private static func isTemporary(_ error: any Error) -> Bool {
    switch error {
    case let error as HTTPFollowerError: return error.isTemporary
    case let error as StoreError: return error.code == .noSpace
    case let error as URLError: return !permanentCodes.contains(error.code)
    default: return false
    }
  }

  private static let permanentCodes: Set<URLError.Code> = [
    .badURL, .unsupportedURL, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
    .serverCertificateHasBadDate, .serverCertificateNotYetValid, .clientCertificateRejected,
    .clientCertificateRequired,
  ]
}

/// The times between attempts.
private struct Backoff {
  private let configuration: HTTPFollowerConfiguration
  private var delay: Duration

  init(_ configuration: HTTPFollowerConfiguration) {
    (self.configuration, delay) = (configuration, configuration.minimumDelay)
  }

  mutating func reset() { delay = configuration.minimumDelay }

  mutating func next() -> Duration {
    defer { delay = min(configuration.maximumDelay, delay * 2) }
    return delay * .random(in: 1...1.5)
  }
}

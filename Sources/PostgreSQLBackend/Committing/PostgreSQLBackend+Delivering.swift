import Files
import StoreEngine

/// The failure of statements that were sent until their outcome was known, or for too long.
struct DeliveryFailure: Error {
  let failure: ServerFailure
  /// Whether the statements may have been executed.
  let isInDoubt: Bool

  /// Returns the error of a commit that was sent.
  func error(of commit: Commit, at location: String) -> StoreError {
    guard isInDoubt else { return failure.error(at: location) }
    return StoreError(
      .reopenNeeded,
      """
      The answer to the save was lost, and the server can't be reached: ask for the commit with the \
      token \(commit.token) later.
      """,
      at: .init(path: location), underlying: failure)
  }
}

extension PostgreSQLBackend {
  /// Sends commits until their outcome is known.
  ///
  /// They may be sent any number of times: the function looks for the token of each, after it has
  /// waited for the lock that an earlier transaction may still hold.
  ///
  /// - Parameters:
  ///   - doubt: Set from the moment when the outcome is unknown; also if the commits were sent in
  ///     another way before.
  ///   - first: The answer to the first attempt, if it was made before.
  ///   - run: Sends the commits.
  /// - Returns: The result of the closure.
  /// - Throws: The failure.
  func deliver(
    _ doubt: inout Backoff?, first: ServerAnswer? = nil,
    _ run: (Connection) throws(ServerFailure) -> [QueryResult]
  ) throws(DeliveryFailure) -> [QueryResult] {
    var first = first
    var othersFirst = Backoff(configuration.timeout)
    var lossesLeft = 1
    while true {
      do throws(ServerFailure) {
        if let answer = first {
          first = nil
          return try answer.get()
        }
        return try pool.withConnection(isUrgent: isDelivering, run)
      } catch {
        if error.isTransient, othersFirst.pause() { continue }
        // A refusal before the function has looked for the token doesn't end the doubt.
        guard error.isLost || doubt != nil && error.saysNothing else {
          throw DeliveryFailure(failure: error, isInDoubt: false)
        }
        lossesLeft -= 1
        if error.isInDoubt, doubt == nil { doubt = Backoff(configuration.timeout) }
        let mayRetry = doubt == nil ? lossesLeft >= 0 : doubt?.pause() == true
        if mayRetry, !pool.isClosed { continue }
        throw DeliveryFailure(failure: error, isInDoubt: doubt != nil)
      }
    }
  }
}

extension ServerFailure {
  /// Whether statements may have been executed, because the answer is lost.
  fileprivate var isInDoubt: Bool {
    switch self {
    case .connectionLost: true
    case .refused: isLost
    case .noConnection, .unexpectedAnswer, .notAuthentic, .snapshotEnded: false
    }
  }

  /// Whether the server may have refused a statement while it waited for a lock, or for reasons
  /// of its own.
  fileprivate var saysNothing: Bool {
    guard case .refused(let state, _) = self else { return false }
    return ["40", "53", "55", "57"].contains { state.hasPrefix($0) }
  }
}

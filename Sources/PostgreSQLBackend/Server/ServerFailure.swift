import StoreEngine

/// The reason why statements were not executed.
enum ServerFailure: Error {
  /// The connection was lost, or there was no answer in time.
  ///
  /// It is not known whether the statements were executed.
  case connectionLost(String)
  /// No connection could be opened, so nothing was executed.
  case noConnection(String, wantsPassword: Bool)
  /// The server has refused a statement, and executed none.
  case refused(state: String, message: String)
  /// The answer has no form that this library knows.
  case unexpectedAnswer
  /// A name, a key or an author was not sealed by this store.
  case notAuthentic
  /// The transaction of a snapshot has ended, because a statement in it failed.
  case snapshotEnded

  /// Whether the connection can no longer be used.
  var isLost: Bool {
    switch self {
    case .connectionLost, .noConnection: true
    // The server is shutting down, has ended the session, has become a standby, or doesn't know
    // whether it has committed, as only distributed servers report.
    case .refused(let state, _):
      state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006" || state == "40003"
    case .unexpectedAnswer, .notAuthentic, .snapshotEnded: false
    }
  }

  /// Whether the same statements may succeed when they are sent again.
  var isTransient: Bool {
    guard case .refused(let state, _) = self else { return false }
    return state == "40001" || state == "40P01"
  }

  /// Whether the session does not know a statement by its name, knows another one by it, or has to
  /// plan it again in a way that it can't.
  var isOfKeptStatement: Bool {
    guard case .refused(let state, _) = self else { return false }
    return ["26000", "42P05", "0A000"].contains(state)
  }

  /// Returns the error of the store, which says what to do.
  func error(at location: String) -> StoreError {
    let (code, message) = advice
    return StoreError(code, message, at: .init(path: location), underlying: self)
  }

  private var advice: (StoreError.Code, String) {
    switch self {
    case .connectionLost:
      (.ioError, "The connection to the server was lost, or it gave no answer in time. Try again.")
    case .noConnection(_, wantsPassword: true):
      (.ioError, "The server refuses the role or its password: check both, and pg_hba.conf.")
    case .noConnection:
      (.ioError, "The server can't be reached: check that it runs, and the connection string.")
    case .unexpectedAnswer:
      (.damaged, "The server's answer is not valid: something else has changed its tables.")
    case .notAuthentic:
      (
        .notAuthentic,
        "This is not what the store has sealed here: it was changed. Restore a backup."
      )
    case .snapshotEnded:
      (
        .ioError,
        """
        The snapshot has ended, because the server failed in an earlier read of it: take another \
        snapshot.
        """
      )
    case .refused(let state, _): Self.advice(ofState: state)
    }
  }

  /// See https://www.postgresql.org/docs/current/errcodes-appendix.html for the states.
  private static func advice(ofState state: String) -> (StoreError.Code, String) {
    switch state {
    case "53100", "53200":
      (
        .noSpace,
        "The server has no room left on its disk or in memory. Make room there, and try again."
      )
    case "42501":
      (
        .ioError,
        "The role lacks a privilege: grant those on the page Roles of PostgreSQLBackend."
      )
    case "25006": (.readOnly, "The server is a standby, or read-only: connect to the primary.")
    case "57014":
      (
        .ioError,
        "The server has cancelled the statement: raise its statement_timeout, or try again."
      )
    case "54000": (.tooLarge, "The server can't take so much at once.")
    case "3F000", "42P01", "42883", "42703":
      (
        .damaged,
        """
        Tables or functions of the schema stored_objects are missing. A later release has upgraded \
        them, which this program has to be updated for, or something has removed them.
        """
      )
    case _ where state.hasPrefix("XX"): (.damaged, "The server reports that its files are damaged.")
    case _ where state.hasPrefix("53"):
      (.ioError, "The server has too few connections or other resources. Try again later.")
    case _ where state.hasPrefix("57P"): (.ioError, "The server is shutting down. Try again later.")
    case _ where state.hasPrefix("40"):
      (.ioError, "The server could not serialize this with the work of others. Try again.")
    default: (.ioError, "The server has rejected a statement.")
    }
  }
}

extension ServerFailure: CustomStringConvertible {
  var description: String {
    switch self {
    case .connectionLost(let message), .noConnection(let message, _): message
    case .refused(let state, let message): "\(state): \(message)"
    case .unexpectedAnswer: "an unexpected answer"
    case .notAuthentic: "not authentic"
    case .snapshotEnded: "the snapshot has ended"
    }
  }
}

public import FoundationEssentials
public import StoreEngine

/// The position from which a follower asks for a history.
///
/// In a URL it is the parameters of the query:
///
/// - `after`: the number of the last commit in the copy; 0, or no parameter, for a complete copy
/// - `history` and `commit`: the ID of the history and the token of that commit, both optional; the
///   server then refuses another store before it sends anything
public struct HistoryRequest: Hashable, Sendable {
  /// The number of the last commit in the copy; 0 for no copy.
  public let number: UInt64
  /// The ID of the history; nil if it is not known.
  public let historyID: UUID?
  /// The token of the last commit; nil if it is not known.
  public let token: UUID?

  /// Creates a request for the commits after a position; nil for a complete copy.
  public init(after position: HistoryPosition?) {
    (number, historyID, token) = (position?.number ?? 0, position?.historyID, position?.token)
  }

  /// Reads a request from the query of a URL.
  ///
  /// Complexity: linear in the length of the parameters.
  ///
  /// - Parameter value: Returns the decoded value of a parameter; nil if there is none.
  /// - Throws: ``HistoryRefusal`` with status 400 for values that are no number or no UUID.
  public init(_ value: (_ parameter: String) -> String?) throws(HistoryRefusal) {
    number = try value("after").map(Self.number) ?? 0
    historyID = try value("history").map(Self.uuid)
    token = try value("commit").map(Self.uuid)
    if number == 0, historyID != nil || token != nil {
      throw .invalid("history and commit need after, the number of the last commit in the copy.")
    }
  }

  /// The parameters of the query, in order.
  public var parameters: [(name: String, value: String)] {
    guard number > 0 else { return [] }
    let known = [("history", historyID), ("commit", token)]
    return [("after", "\(number)")] + known.compactMap { name, id in id.map { (name, "\($0)") } }
  }

  private static func number(_ text: String) throws(HistoryRefusal) -> UInt64 {
    let isDecimal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isDecimal, text.utf8.count <= 20, let number = UInt64(text) else {
      throw .invalid("after is the number of a commit, in decimal digits.")
    }
    return number
  }

  private static func uuid(_ text: String) throws(HistoryRefusal) -> UUID {
    guard text.utf8.count == 36, let id = UUID(uuidString: text) else {
      throw .invalid("history and commit are UUIDs.")
    }
    return id
  }
}

/// An error of a server that sends no history, with the status of its answer over HTTP.
public struct HistoryRefusal: Error, CustomStringConvertible {
  /// The status of the answer over HTTP.
  ///
  /// - 400: The request makes no sense.
  /// - 409: The request is for another store.
  /// - 410: The history begins after the position.
  /// - 500: The store can't be read.
  /// - 503: There are too many followers, or the server is ending.
  public let status: Int
  /// The message for the follower.
  public let description: String
  /// The error of the store; nil if there is none.
  public let underlying: StoreError?

  static func invalid(_ message: String) -> HistoryRefusal {
    HistoryRefusal(status: 400, description: message, underlying: nil)
  }

  static func busy(_ message: String) -> HistoryRefusal {
    HistoryRefusal(status: 503, description: message, underlying: nil)
  }

  init(status: Int, description: String, underlying: StoreError?) {
    (self.status, self.description, self.underlying) = (status, description, underlying)
  }

  init(_ error: StoreError) {
    underlying = error
    switch error.code {
    case .otherHistory: (status, description) = (409, error.message)
    case .historyExpired: (status, description) = (410, error.message)
    case .closed: (status, description) = (503, "The server is ending. Try again later.")
    // The message may name files of the server.
    default: (status, description) = (500, "The store can't be read: \(error.code).")
    }
  }
}

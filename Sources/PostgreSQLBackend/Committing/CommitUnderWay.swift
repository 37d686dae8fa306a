import FoundationEssentials
import StoreEngine

/// A commit of this process that has been sent.
struct CommitUnderWay: Sendable {
  let changes: ChangeSet
  let request: CommitRequest
}

extension Commit {
  /// Reads a commit from a row: number, token, author, time and basis, from a column on.
  ///
  /// The result is nil if the number is NULL.
  init?(
    _ result: QueryResult, _ row: Int, _ column: Int32, _ sealing: ServerSealing?
  ) throws(ServerFailure) {
    guard let number = result.int(row, column) else { return nil }
    var token = DataBuffer(result.bytes(row, column + 1))
    guard let token = try? token.readUUID() else { throw ServerFailure.unexpectedAnswer }
    var author = result.text(row, column + 2)
    if let sealing { author = try sealing.open(author: result.bytes(row, column + 2), of: token) }
    self.init(
      number: UInt64(clamping: number), token: token, author: author,
      microseconds: result.int(row, column + 3),
      basedOn: result.int(row, column + 4).map { UInt64(clamping: $0) })
  }

  /// Reads the number of a store's last commit, followed by that commit; nil if there is none.
  static func last(
    _ result: QueryResult, _ column: Int32, _ sealing: ServerSealing?
  ) throws(ServerFailure) -> Commit? {
    let number = UInt64(clamping: try result.number(0, column))
    if let commit = try Commit(result, 0, column + 1, sealing) { return commit }
    return number == 0 ? nil : Commit(unnamed: number)
  }
}

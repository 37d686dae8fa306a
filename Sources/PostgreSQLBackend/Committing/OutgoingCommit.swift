import FoundationEssentials
import StoreEngine

/// A commit of this process on its way to the server.
package final class OutgoingCommit: Sendable {
  /// The commit, which gets its number from the server.
  let commit: Commit
  let changes: ChangeSet
  let request: CommitRequest
  /// The number after which there must be no other commit; nil if there may be.
  let requiredNumber: UInt64?
  let arguments: CommitArguments
  /// Whether the functions for small commits can execute it.
  let isSimple: Bool
  /// Whether it writes a metadata row.
  let hasMetadata: Bool

  /// Prepares a commit, on the thread that makes it.
  ///
  /// - Throws: `StoreError` for a name that can't be sealed.
  init(
    _ changes: ChangeSet, _ request: CommitRequest, _ backend: PostgreSQLBackend
  ) throws(StoreError) {
    let history = HistoryArguments(changes, request, backend)
    (self.changes, self.request) = (changes, history.request(request))
    requiredNumber = history.requiredNumber
    commit = self.request.commit(number: 0, token: backend.coordinator.journal.newToken())
    arguments = try CommitArguments(changes, self.request, history, backend)
    (isSimple, hasMetadata) = (arguments.isSimple, arguments.hasMetadata)
  }

  /// Whether the basis includes ranges of keys, and not only single ones.
  var isBasedOnRanges: Bool {
    request.basis?.keys.contains { $0.range.onlyKey == nil } ?? false
  }

  /// Whether another commit changes a table of which the basis includes a range.
  func isBasedOnRange(changedBy other: OutgoingCommit) -> Bool {
    request.basis?.keys.contains { (table, range) in
      range.onlyKey == nil && other.changes.ordered.contains { $0.table == table && !$0.isEmpty }
    } ?? false
  }
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

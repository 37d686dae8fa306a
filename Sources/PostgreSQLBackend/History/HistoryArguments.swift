import StoreEngine

/// The parameters by which the server knows what a commit does to the history.
struct HistoryArguments {
  private let replication: Schema.Replication
  private let table: OrderedTableID
  private let followerTable: OrderedTableID
  /// Whether the commit begins the history: the server sets the number after which it begins.
  let begins: Bool
  /// Whether the commit does nothing but remove entries.
  private let shortens: Bool
  /// The basis of a commit that shortens the history.
  private let stampBasis: CommitBasis?
  private let required: UInt64?

  init(_ changes: ChangeSet, _ request: CommitRequest, _ backend: PostgreSQLBackend) {
    replication =
      request.replication.map { $0.isRemembered ? .remembered : .ownEntry } ?? .none
    (table, followerTable) = (backend.historyTable, backend.followerTable)
    required = backend.coordinator.requiredNumber
    let isOwn = request.replication == nil
    begins = isOwn && Self.begins(changes, table, required)
    shortens =
      isOwn && !begins && request.basis == nil && required != nil
      && ServerHistory.onlyShortens(
        changes, history: table, values: backend.catalogue)
    var basis = CommitBasis(upTo: required ?? 0)
    basis.keys = [(table, KeyRange.key(ServerHistory.stampKey))]
    stampBasis = shortens ? basis : nil
  }

  /// Whether changes are those of `beginHistory()`.
  ///
  /// The start that they set is behind the required number. It need not be the next one: others may
  /// have committed since the turn began, and the server sets the real start.
  private static func begins(
    _ changes: ChangeSet, _ table: OrderedTableID, _ required: UInt64?
  ) -> Bool {
    guard let required, changes.tables.isEmpty, changes.names.isEmpty, changes.ordered.count == 1,
      changes.ordered[0].table == table, !changes.ordered[0].clearsFirst,
      changes.ordered[0].changes.count == 1, let change = changes.ordered[0].changes.first,
      !change.isRemoval, changes.bytes[change.key].elementsEqual(ServerHistory.stampKey)
    else { return false }
    return ServerHistory.start(Array(changes.bytes[change.value])).map { $0 > required } ?? false
  }

  /// The number after which there must not be other commits.
  ///
  /// Others may save while a history is begun, because the server sets its start. While it is
  /// shortened, the start must stay the same.
  var requiredNumber: UInt64? { begins || shortens ? nil : required }

  /// Whether a commit with some tables does not concern the history.
  func isNone(_ tables: [CommitArguments.Table]) -> Bool {
    replication == .none && !begins && !shortens && place(of: table, tables) == 0
      && place(of: followerTable, tables) == 0
  }

  /// Returns a request with the basis of a commit that shortens the history.
  func request(_ request: CommitRequest) -> CommitRequest {
    guard let stampBasis else { return request }
    var based = request
    based.basis = stampBasis
    return based
  }

  /// Returns the last parameters of the function that executes a commit.
  func parameters(_ tables: [CommitArguments.Table], isInPieces: Bool) -> [Parameter] {
    [
      .int2(replication.rawValue), .int4(place(of: table, tables)), .bool(begins),
      .int4(place(of: followerTable, tables)), .bool(isInPieces),
    ]
  }

  /// Returns the number of an ordered table among the tables of a commit; 0 if it is not there.
  private func place(of table: OrderedTableID, _ tables: [CommitArguments.Table]) -> Int32 {
    let index = tables.firstIndex {
      if case .ordered(table) = $0 { true } else { false }
    }
    return index.map { Int32($0) + 1 } ?? 0
  }
}

import CLibPQ
import Files
import Locks
import StoreEngine

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A connection to the server, for one thread at a time.
///
/// Statements are sent together, and their answers are read together: one round trip. Outside of an
/// explicit transaction, statements that are sent together are one transaction, except those that
/// come after its end, see ``Statement/isOfNextTransaction``.
///
/// `@unchecked Sendable`: the pool gives a connection to one thread at a time, under its lock. While
/// statements wait for their answer without a thread, no thread uses it. The thread that has sent
/// them passes it to the one that reads under the locks of ``SocketPoller`` and ``ThreadPool``.
@safe final class Connection: @unchecked Sendable {
  let connection: OpaquePointer
  private let timeout: Duration
  /// The groups of statements that were sent and whose answers were not read.
  private var unread: [SentGroup] = []
  private var packed = PackedParameters()
  /// Whether sessions of the pool keep statements by names.
  private let keepsStatements: SharedLock<Bool>
  /// Whether the statements that wait without a thread were sent by their names.
  private var waitsForNames = false
  /// The names of the statements that the session keeps.
  private var kept: Set<Statement.Name> = []
  /// The number of statements that the last call of ``run(_:)`` has executed before one failed.
  private(set) var executedCount = 0
  /// Whether the connection can be used again.
  private(set) var isUsable = true
  private var isAbandoned = false

  /// Statements that were sent together: the names of those that the session keeps from now on, by
  /// the places of the answers.
  private struct SentGroup {
    var names: [Int: Statement.Name] = [:]
    var answerCount = 0
    /// Whether the statements were sent together with those of the group before.
    var continuesGroup = false
  }

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - target: The server.
  ///   - timeout: The time limit for a request without progress.
  ///   - keepsStatements: Whether sessions keep statements, which a pooler may prevent.
  /// - Throws: The failure.
  init(
    _ target: ConnectionTarget, timeout: Duration, keepsStatements: SharedLock<Bool>
  ) throws(ServerFailure) {
    (self.timeout, self.keepsStatements) = (timeout, keepsStatements)
    let opened = unsafe Self.connect(target.settings)
    guard let opened = unsafe opened else { throw .noConnection("no memory", wantsPassword: false) }
    unsafe connection = opened
    guard unsafe PQstatus(opened) == CONNECTION_OK else {
      let wantsPassword =
        unsafe PQconnectionNeedsPassword(opened) + PQconnectionUsedPassword(opened) > 0
      let message = target.withoutSecrets(unsafe Self.text(PQerrorMessage(opened)))
      // `deinit` closes the connection.
      throw .noConnection(message, wantsPassword: wantsPassword)
    }
    unsafe PQsetNoticeProcessor(opened, { _, _ in }, nil)
    guard unsafe PQsetnonblocking(opened, 1) == 0, unsafe PQenterPipelineMode(opened) == 1 else {
      throw lost()
    }
  }

  deinit {
    if isAbandoned { return }
    if !isUsable { discardUnsent() }
    unsafe PQfinish(connection)
  }

  /// Lets the system drop what it has not delivered.
  ///
  /// Otherwise it would deliver a commit when the network is back, after others have looked for it.
  private func discardUnsent() {
    let socket = unsafe PQsocket(connection)
    guard socket >= 0 else { return }
    var option = linger(l_onoff: 1, l_linger: 0)
    let byteCount = socklen_t(MemoryLayout<linger>.size)
    _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, byteCount)
  }

  /// Leaves the connection to the process from which this one was forked.
  func abandon() { isAbandoned = true }

  private static func connect(_ settings: [(key: String, value: String)]) -> OpaquePointer? {
    let keys = unsafe settings.map { unsafe strdup($0.key) } + [nil]
    let values = unsafe settings.map { unsafe strdup($0.value) } + [nil]
    defer {
      unsafe keys.forEach { unsafe free($0) }
      unsafe values.forEach { unsafe free($0) }
    }
    return unsafe keys.map { unsafe UnsafePointer($0) }.withUnsafeBufferPointer { keys in
      unsafe values.map { unsafe UnsafePointer($0) }.withUnsafeBufferPointer { values in
        unsafe PQconnectdbParams(keys.baseAddress, values.baseAddress, 1)
      }
    }
  }

  private static func text(_ text: UnsafePointer<CChar>?) -> String {
    unsafe text.map { unsafe String(cString: $0) } ?? ""
  }

  /// Returns the value of a setting that the server reported when the connection was opened.
  func setting(_ name: String) -> String { unsafe Self.text(PQparameterStatus(connection, name)) }

  // MARK: Statements

  /// Runs statements in one round trip.
  ///
  /// - Returns: The rows of each statement.
  /// - Throws: The first failure. None of the statements was executed then, unless the connection
  ///   was lost.
  func run(_ statements: [Statement]) throws(ServerFailure) -> [QueryResult] {
    try begin(statements)
    return try end(statements)
  }

  /// Sends statements as far as this needs no waiting; ``end(_:)`` has to follow.
  func begin(_ statements: [Statement]) throws(ServerFailure) {
    waitsForNames = mayUseNames(of: statements)
    try send(statements, usesNames: waitsForNames)
  }

  /// Waits for the answers of the statements that were sent by ``begin(_:)``, like ``run(_:)``.
  func end(_ statements: [Statement]) throws(ServerFailure) -> [QueryResult] {
    do throws(ServerFailure) {
      return try readGroups()
    } catch {
      guard waitsForNames, error.isOfKeptStatement else { throw error }
      // A pooler has given the session to others in between. Nothing was executed.
      keepsStatements.withLock { $0 = false }
      try send(statements, usesNames: false)
      return try readGroups()
    }
  }

  /// Whether statements can be sent by their names, and again if the session doesn't know these.
  private func mayUseNames(of statements: [Statement]) -> Bool {
    statements.contains { $0.name != nil } && statements.first?.beginsTransaction == false
      && unread.isEmpty && (unsafe PQtransactionStatus(connection)) == PQTRANS_IDLE
      && keepsStatements.withLock(\.self)
  }

  private func readGroups() throws(ServerFailure) -> [QueryResult] {
    let lastCount = unread.reversed().prefix(while: \.continuesGroup).count + 1
    while unread.count > lastCount {
      do throws(ServerFailure) { _ = try readGroup() } catch {
        if !isUsable { throw error }
      }
    }
    return try readLastGroups()
  }

  /// Reads the answers of the statements that were sent last, as far as they succeed.
  private func readLastGroups() throws(ServerFailure) -> [QueryResult] {
    let first = Result { () throws(ServerFailure) in try readGroup() }
    let firstCount = executedCount
    defer { executedCount = firstCount }
    var results = (try? first.get()) ?? []
    while isUsable, !unread.isEmpty, let more = try? readGroup() { results += more }
    _ = try first.get()
    return results
  }

  /// Runs a statement without waiting for its answer.
  ///
  /// The next call waits for it.
  func runWithoutWaiting(_ statement: Statement) {
    do {
      try send([statement], usesNames: false)
      while unsafe PQflush(connection) == 1 { try wait(for: POLLOUT) }
    } catch { isUsable = false }
  }

  private func send(_ statements: [Statement], usesNames: Bool) throws(ServerFailure) {
    var group = SentGroup()
    var names: Set<Statement.Name> = []
    for statement in statements {
      if statement.isOfNextTransaction {
        try end(group)
        group = SentGroup(continuesGroup: true)
      }
      let name = usesNames ? statement.name : nil
      if let name, !kept.contains(name), names.insert(name).inserted {
        let types = statement.parameters.map(\.type)
        let isSent = unsafe PQsendPrepare(
          connection, name.text, statement.text, Int32(types.count), types)
        guard isSent == 1 else { throw lost() }
        group.names[group.answerCount] = name
        group.answerCount += 1
      }
      guard send(statement, name) else { throw lost() }
      group.answerCount += 1
    }
    try end(group)
  }

  /// Ends the transaction of statements that were sent.
  private func end(_ group: SentGroup) throws(ServerFailure) {
    guard unsafe PQpipelineSync(connection) == 1 else { throw lost() }
    unread.append(group)
  }

  private func send(_ statement: Statement, _ name: Statement.Name?) -> Bool {
    let count = Int32(statement.parameters.count)
    packed.pack(statement.parameters)
    defer { packed.removeLarge() }
    return unsafe packed.lend { values, lengths, formats in
      if let name {
        return unsafe PQsendQueryPrepared(
          connection, name.text, count, values, lengths, formats, 1) == 1
      }
      return unsafe PQsendQueryParams(
        connection, statement.text, count, statement.parameters.map(\.type), values, lengths,
        formats, 1) == 1
    }
  }

  // MARK: Copying

  /// Copies rows in binary form into a table, in the transaction that is open.
  ///
  /// If it fails, the connection can't be used again, and its end ends the transaction.
  ///
  /// - Parameters:
  ///   - text: The statement `COPY`.
  ///   - nextPart: Returns the next bytes; nil at the end.
  /// - Throws: The failure.
  func copy(_ text: String, _ nextPart: () -> [UInt8]?) throws(ServerFailure) {
    // A pipeline can't contain it.
    guard unread.isEmpty, unsafe PQexitPipelineMode(connection) == 1,
      unsafe PQsendQuery(connection, text) == 1
    else { throw lost() }
    do throws(ServerFailure) {
      try expect(PGRES_COPY_IN)
      while let part = nextPart() { try put(part) }
      while unsafe PQputCopyEnd(connection, nil) == 0 { try waitToSend() }
      try expect(PGRES_COMMAND_OK)
      try waitForAnswer()
    } catch {
      isUsable = false
      throw error
    }
    guard unsafe PQgetResult(connection) == nil, unsafe PQenterPipelineMode(connection) == 1 else {
      throw lost()
    }
  }

  /// Reads one answer.
  private func expect(_ status: ExecStatusType) throws(ServerFailure) {
    try waitForAnswer()
    guard let result = unsafe PQgetResult(connection) else { throw lost() }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == status else { throw unsafe Self.failure(result) }
  }

  private func put(_ part: [UInt8]) throws(ServerFailure) {
    while true {
      let isQueued = unsafe part.withUnsafeBytes { part in
        unsafe PQputCopyData(
          connection, part.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(part.count))
      }
      if isQueued > 0 { return }
      guard isQueued == 0 else { throw lost() }
      try waitToSend()
    }
  }

  /// Waits until more can be sent, and reads what the server has sent meanwhile.
  private func waitToSend() throws(ServerFailure) {
    guard unsafe PQflush(connection) == 1 else { return }
    try wait(for: POLLIN | POLLOUT)
    guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
  }

  // MARK: Answers

  /// Reads the answers of statements that were sent together.
  private func readGroup() throws(ServerFailure) -> [QueryResult] {
    var results: [QueryResult] = []
    var failure: ServerFailure?
    var place = 0
    defer { executedCount = results.count }
    while true {
      try waitForAnswer()
      // There is no result between two statements.
      guard let result = unsafe PQgetResult(connection) else {
        if unsafe PQstatus(connection) == CONNECTION_BAD {
          isUsable = false
          throw failure ?? lost()
        }
        continue
      }
      switch unsafe PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC:
        unsafe PQclear(result)
        unread.removeFirst()
        if let failure { throw failure }
        return results
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
        if let name = unread.first?.names[place] {
          kept.insert(name)
          unsafe PQclear(result)
        } else {
          unsafe results.append(QueryResult(result))
        }
        place += 1
      case PGRES_PIPELINE_ABORTED: unsafe PQclear(result)
      default:
        if failure == nil { failure = unsafe Self.failure(result) }
        unsafe PQclear(result)
        if failure?.isLost == true { isUsable = false }
        if unsafe PQstatus(connection) == CONNECTION_BAD {
          isUsable = false
          throw failure ?? lost()
        }
      }
    }
  }

  private static func failure(_ result: OpaquePointer) -> ServerFailure {
    let state = unsafe text(PQresultErrorField(result, Int32(UInt8(ascii: "C"))))
    // Only the first line, because the other lines contain values.
    let message = unsafe text(PQresultErrorField(result, Int32(UInt8(ascii: "M"))))
    return state.isEmpty
      ? .connectionLost(unsafe text(PQresultErrorMessage(result)))
      : .refused(state: state, message: message)
  }

  /// Sends the rest of the statements, and reads input, until there is an answer.
  private func waitForAnswer() throws(ServerFailure) {
    while true {
      let rest = unsafe PQflush(connection)
      guard rest >= 0 else { throw lost() }
      if unsafe PQisBusy(connection) == 0 { return }
      try wait(for: rest == 1 ? POLLIN | POLLOUT : POLLIN)
      guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
    }
  }

  /// Waits until something can be read or written, up to the timeout.
  private func wait(for events: Int32) throws(ServerFailure) {
    let deadline = ContinuousClock.now + timeout
    var descriptor = pollfd(
      fd: unsafe PQsocket(connection), events: Int16(events), revents: 0)
    while true {
      let rest = ContinuousClock.now.duration(to: deadline)
      guard rest > .zero else { throw giveUp() }
      let (seconds, fraction) = rest.components
      let milliseconds = seconds * 1000 + fraction / 1_000_000_000_000_000 + 1
      let count = unsafe poll(&descriptor, 1, Int32(clamping: milliseconds))
      if count > 0 { return }
      if count < 0, errno != EINTR { throw lost() }
    }
  }

  /// Ends the use of the connection, because there was no answer in time.
  func giveUp() -> ServerFailure {
    isUsable = false
    return .connectionLost("no answer in time")
  }

  func lost() -> ServerFailure {
    isUsable = false
    return .connectionLost(unsafe Self.text(PQerrorMessage(connection)))
  }
}

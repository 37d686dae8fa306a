import CLibPQ
import Files
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
/// explicit transaction, statements that are sent together are one transaction.
///
/// `@unchecked Sendable`: the pool gives a connection to one thread at a time, under its lock.
@safe final class Connection: @unchecked Sendable {
  private let connection: OpaquePointer
  private let timeout: Duration
  /// The number of groups of statements that were sent and whose answers were not read.
  private var unreadCount = 0
  /// The number of statements that the last call of ``run(_:)`` has executed before one failed.
  private(set) var executedCount = 0
  /// Whether the connection can be used again.
  private(set) var isUsable = true
  private var isAbandoned = false

  /// Connects to a server.
  init(_ target: ConnectionTarget, timeout: Duration) throws(ServerFailure) {
    self.timeout = timeout
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

  deinit { if !isAbandoned { unsafe PQfinish(connection) } }

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
    try send(statements)
    while unreadCount > 1 {
      do throws(ServerFailure) { _ = try readGroup() } catch {
        if !isUsable { throw error }
      }
    }
    return try readGroup()
  }

  /// Runs a statement without waiting for its answer.
  ///
  /// The next call waits for it.
  func runWithoutWaiting(_ statement: Statement) {
    do {
      try send([statement])
      while unsafe PQflush(connection) == 1 { try wait(for: POLLOUT) }
    } catch { isUsable = false }
  }

  private func send(_ statements: [Statement]) throws(ServerFailure) {
    for statement in statements {
      guard unsafe Self.send(statement, connection) else { throw lost() }
    }
    guard unsafe PQpipelineSync(connection) == 1 else { throw lost() }
    unreadCount += 1
  }

  private static func send(_ statement: Statement, _ connection: OpaquePointer) -> Bool {
    let types = statement.parameters.map(\.type)
    let lengths = statement.parameters.map { Int32($0.bytes?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: types.count)
    var values: [UnsafePointer<CChar>?] = unsafe []
    unsafe values.reserveCapacity(types.count)
    return unsafe lend(statement.parameters[...], &values) { values in
      unsafe PQsendQueryParams(
        connection, statement.text, Int32(types.count), types, values, lengths, formats, 1) == 1
    }
  }

  /// Collects the addresses of the bytes of parameters, which are valid while the closure runs.
  private static func lend(
    _ parameters: ArraySlice<Parameter>, _ values: inout [UnsafePointer<CChar>?],
    _ body: ([UnsafePointer<CChar>?]) -> Bool
  ) -> Bool {
    guard let first = parameters.first else { return unsafe body(values) }
    guard let bytes = first.bytes else {
      unsafe values.append(nil)
      return unsafe lend(parameters.dropFirst(), &values, body)
    }
    // An empty array may have no address, which would mean NULL.
    return unsafe (bytes.isEmpty ? [0] : bytes).withUnsafeBytes { bytes in
      unsafe values.append(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
      return unsafe lend(parameters.dropFirst(), &values, body)
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
    guard unreadCount == 0, unsafe PQexitPipelineMode(connection) == 1,
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
        unreadCount -= 1
        if let failure { throw failure }
        return results
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK: unsafe results.append(QueryResult(result))
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
      guard rest > .zero else {
        isUsable = false
        throw .connectionLost("no answer in time")
      }
      let (seconds, fraction) = rest.components
      let milliseconds = seconds * 1000 + fraction / 1_000_000_000_000_000 + 1
      let count = unsafe poll(&descriptor, 1, Int32(clamping: milliseconds))
      if count > 0 { return }
      if count < 0, errno != EINTR { throw lost() }
    }
  }

  private func lost() -> ServerFailure {
    isUsable = false
    return .connectionLost(unsafe Self.text(PQerrorMessage(connection)))
  }
}

/// Parses a connection string.
///
/// - Returns: The settings in it; nil if it is not valid.
func parseConnectionString(_ text: String) -> [String: String]? {
  var message: UnsafeMutablePointer<CChar>?
  let options = unsafe PQconninfoParse(text, &message)
  // The message may contain parts of a password.
  unsafe PQfreemem(message)
  guard let first = unsafe options else { return nil }
  defer { unsafe PQconninfoFree(first) }
  var settings: [String: String] = [:]
  var option = unsafe first
  while let keyword = unsafe option.pointee.keyword {
    if let value = unsafe option.pointee.val {
      unsafe settings[String(cString: keyword)] = String(cString: value)
    }
    unsafe option += 1
  }
  return settings
}

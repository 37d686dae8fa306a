import Files
import KeyValueStoreCore
import StoreEngine

/// An answer of a server as its bytes come.
struct Reception: Sendable {
  /// The commits of a stream of entries.
  private(set) var changes: ServerChanges?
  /// Makes a copy of a stream.
  private(set) var follower: StoreFollower?
  private var decoder = HistoryStreamDecoder("server")
  private var bytes: [UInt8] = []
  private var isStream = false
  private var byteLimit = SyncFormat.maximumAnswerByteCount

  /// Expects an answer without a stream.
  init() {}

  /// Expects parts of values.
  init(ofValues byteLimit: Int) { self.byteLimit += byteLimit }

  /// Expects the commits after a position.
  ///
  /// - Parameters:
  ///   - position: The position.
  ///   - tables: The key-value tables of the server there; nil if the device keeps its items.
  init(after position: HistoryPosition, _ tables: ItemTables?) {
    changes = ServerChanges(after: position, tables)
  }

  /// Expects a copy.
  init(follower: StoreFollower) { self.follower = follower }

  /// Adds the next bytes.
  ///
  /// - Throws: `StoreError` with `damaged`, or as `StoreFollower.apply`.
  mutating func add(_ new: [UInt8]) throws(StoreError) {
    if isStream { return try addToStream(new) }
    bytes += new
    let head = SyncAnswer.history.bytes
    if bytes.starts(with: head) {
      isStream = true
      let rest = Array(bytes[head.count...])
      bytes = head
      return try addToStream(rest)
    }
    guard bytes.count <= byteLimit else {
      throw StoreError(.damaged, "The server's answer is too long.")
    }
  }

  private mutating func addToStream(_ new: [UInt8]) throws(StoreError) {
    if var copy = follower {
      follower = nil
      defer { follower = copy }
      return try copy.apply(new)
    }
    decoder.append(new)
    while let element = try decoder.next() { try add(element) }
  }

  private mutating func add(_ element: HistoryStreamDecoder.Element) throws(StoreError) {
    switch element {
    case .header(let position):
      guard let changes, position.isSame(as: changes.position) else { throw unexpected() }
    case .frame(.entry(let bytes, _)):
      let entry: HistoryEntry
      do { entry = try HistoryFormat.entry(bytes) } catch {
        throw StoreError(.damaged, "The server has sent an entry that makes no sense: \(error)")
      }
      guard let changes, entry.commit.number == changes.position.number + 1 else {
        throw unexpected()
      }
      try self.changes?.add(entry)
    case .frame(.heartbeat(let number, _)):
      let known = changes?.lastNumber ?? 0
      changes?.lastNumber = max(number, known)
    case .frame(.end), .frame(.value), .frame(.missingValue): break
    case .frame(.copyPart), .frame(.copyEnd): throw unexpected()
    }
  }

  /// Returns the answer, which has to be whole.
  ///
  /// - Throws: `StoreError` with `ioError`, or `DataBufferError`.
  func finish() throws -> SyncAnswer {
    try checkVersion()
    guard isStream else { return try SyncAnswer(bytes) }
    if let follower { try follower.finish() } else { try decoder.finish() }
    return .history
  }

  private func checkVersion() throws(StoreError) {
    guard let found = SyncFormat.version(of: bytes, SyncFormat.answerMagic),
      found != SyncFormat.version
    else { return }
    throw StoreError(
      .newerVersion,
      """
      The server has version \(found) of the protocol, and this device version \
      \(SyncFormat.version). Update the older program.
      """)
  }

  private func unexpected() -> StoreError {
    StoreError(.damaged, "The server has sent other commits than those that were asked for.")
  }
}

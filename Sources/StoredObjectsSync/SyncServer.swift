import Files
import KeyValueStoreCore
import Logging
public import StoreEngine
public import StoredObjectsCore

/// A server that orders the commits of all devices that synchronize a store.
///
///     let server = try SyncServer(container)
///     // For each request, whose token tells the device:
///     await server.answer(request, from: SyncDevice(id: "Ann's phone")) { bytes in send(bytes) }
///
/// The store is an ordinary one on any backend that keeps a history; the program of the server may
/// read and save objects at the same time. A device's commits are made as they come, by the classes
/// of the container: their indexes follow, unique values are checked, and records that their class
/// can't read are refused.
///
/// A device can change every object of the store. Give each user a store, or check in front what a
/// device may do.
public actor SyncServer {
  /// The backends and classes of the server's store.
  public nonisolated let container: StoreContainer
  /// The limits of the server.
  public nonisolated let limits: SyncLimits
  private let executor = ThreadExecutor()
  /// The last position that the history knows of each device.
  private var seen: [SyncDevice: UInt64] = [:]
  /// The values that wait for the commits that refer to them.
  var waiting: [SyncDevice: WaitingValues] = [:]

  /// The executor of the server's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  nonisolated var backend: any StoreBackend { container.backend }

  /// Creates a server, and begins a history if the store keeps none.
  ///
  /// Complexity: one look-up; as a commit of one key if a history begins.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument` if the backend keeps no history;
  ///   `readOnly`, `noSpace`, `ioError`, `damaged` or `closed`.
  public init(_ container: StoreContainer, limits: SyncLimits = SyncLimits()) throws(StoreError) {
    (self.container, self.limits) = (container, limits)
    if try container.backend.historyStart() == nil { try container.backend.beginHistory() }
  }

  /// Answers a request of a device.
  ///
  /// Safe for any bytes: a request that makes no sense gets an answer that says so, and changes
  /// nothing.
  ///
  /// An error before the first part becomes the answer. After that the answer just ends, which the
  /// device reports as a stream that was cut off, and the error is written to the logger of the
  /// container's configuration.
  ///
  /// Complexity: linear in the size of the request and of the answer. Each commit that the device
  /// sends is saved by a commit of its own, which waits for the disk; so are new row IDs.
  ///
  /// - Parameters:
  ///   - request: The bytes that ``SyncTransport`` has sent.
  ///   - device: The device, as the server knows it from the token of the request.
  ///   - sink: Gets the bytes of the answer, in parts. If it throws, the answer ends.
  public func answer(
    _ request: [UInt8], from device: SyncDevice,
    to sink: @Sendable ([UInt8]) throws(StoreError) -> Void
  ) {
    let version = SyncFormat.versionOfAnswer(to: request)
    var (hasBegun, hasSinkFailed) = (false, false)
    func send(_ bytes: [UInt8]) throws(StoreError) {
      do { try sink(bytes) } catch {
        hasSinkFailed = true
        throw error
      }
    }
    do throws(StoreError) {
      let answer = try answer(request, version, device) { (bytes) throws(StoreError) in
        if !hasBegun { try send(SyncAnswer.history.bytes(in: version)) }
        hasBegun = true
        try send(bytes)
      }
      if !hasBegun { try send(answer.bytes(in: version)) }
    } catch {
      // A stream that ends too early is an error there.
      if hasBegun || hasSinkFailed { return log(error, for: device, ofSink: hasSinkFailed) }
      let answer = SyncAnswer.failed(code: "\(error.code)", message: error.message)
      do { try send(answer.bytes(in: version)) } catch { log(error, for: device, ofSink: true) }
    }
  }

  /// Logs an error that the device does not get.
  ///
  /// A device whose connection is lost is nothing unusual.
  private func log(_ error: StoreError, for device: SyncDevice, ofSink isOfSink: Bool) {
    container.configuration.logger.log(
      level: isOfSink ? .debug : .error,
      "An answer to a device failed after it had begun: \(error)",
      metadata: ["device": "\(device.id)"])
  }

  private func answer(
    _ bytes: [UInt8], _ version: UInt16, _ device: SyncDevice,
    _ sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) -> SyncAnswer {
    guard bytes.count <= limits.requestByteCount else {
      throw StoreError(
        .tooLarge, "A request has at most \(limits.requestByteCount) bytes: send less at a time.")
    }
    guard !device.id.isEmpty, device.id.utf8.count <= 64 else {
      throw StoreError(.invalidArgument, "The ID of a device has 1 to 64 bytes.")
    }
    let request: SyncRequest
    do { request = try SyncRequest(bytes) } catch {
      throw StoreError(.invalidArgument, "The request makes no sense: \(error)")
    }
    try check(version)
    waiting[device]?.time = .now
    expireWaiting()
    switch request {
    case .join(let classes): return .joined(try join(classes, device))
    case .pull(let position, let limit):
      try send(after: position, limit: min(limit, limits.answerByteCount), sink)
      try note(device, position)
      return .history
    case .push(let position, let commits): return try push(commits, position, device)
    case .send(let parts): return .stored(try store(parts, of: device))
    case .fetch(let places, let limit):
      return try values(places, limit: min(limit, limits.answerByteCount))
    }
  }

  /// Refuses devices that would lose values or items.
  private func check(_ version: UInt16) throws(StoreError) {
    let lost: String
    if version == SyncFormat.versionWithoutValues,
      try ExternalCatalogue.ifUsed(in: backend) != nil
    {
      lost = "values outside of records"
    } else if version < SyncFormat.version, try ItemTables.hasTables(backend) {
      lost = "items of key-value stores"
    } else {
      return
    }
    throw StoreError(
      .newerVersion,
      """
      The store has \(lost), which this version of the device's program can't synchronize. Update \
      the device's program.
      """, at: .init(path: backend.location))
  }

  /// Sends the commits after a position, or a copy.
  private func send(
    after position: HistoryPosition?, limit: Int, _ sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    var writer: HistoryStreamWriter
    if let position {
      writer = HistoryStreamWriter(behind: position)
      // The device asks for them in parts.
      writer.sendsValues = false
    } else {
      writer = try .copying(backend, sendsValues: false, to: sink)
    }
    try writer.write(backend, limit: max(1, limit), to: sink)
    try sink(writer.heartbeat(of: backend) + writer.end())
  }

  /// Keeps the history that a device has not seen, see `purgeHistory(keeping:)`.
  private func note(_ device: SyncDevice, _ position: HistoryPosition?) throws(StoreError) {
    guard let position else { return }
    // Each note is a commit, which all devices get: not for each request.
    if let known = seen[device], position.number < known + 1000 { return }
    let name = "device \(device.id)"
    let known = try backend.historyConsumers()[name] ?? 0
    seen[device] = max(known, position.number)
    if position.number >= known + 1000 || known == 0 {
      try backend.noteHistorySeen(by: name, through: position.number)
    }
  }

  // MARK: Commits of devices

  private func push(
    _ commits: [[UInt8]], _ base: HistoryPosition, _ device: SyncDevice
  ) throws(StoreError) -> SyncAnswer {
    var position = try backend.historyPosition()
    guard position.historyID == base.historyID else {
      throw StoreError(
        .otherHistory, "The device has synchronized with another store. Begin with an empty one.",
        at: .init(path: backend.location))
    }
    guard position.isSame(as: base) else { return .behind }
    // One that is kept for longer would hold the objects of all relationships that it has met.
    let store = try container.makeStore()
    checkValues(of: store, from: device)
    let leases = try leases(of: device)
    for bytes in commits {
      let commit = try checked(bytes, leases)
      guard let next = try make(commit, after: position, by: store) else { return .behind }
      position = next
    }
    releaseWaiting(of: device)
    return .accepted(position)
  }

  /// Makes a commit of a device; returns nil if another commit was first.
  private func make(
    _ sent: PendingCommit, after position: HistoryPosition, by store: Store
  ) throws(StoreError) -> HistoryPosition? {
    let (backend, entry) = (backend, sent.entry)
    do {
      let rest = try store.setRecords(RecordStates(after: [entry]))
      try checkWritten(rest)
      let commit = try backend.committing(sent.items) { (addItems) throws(StoreError) in
        try store.saveChanges { (changes, request) throws(StoreError) in
          guard backend.lastCommitNumber == position.number else { throw Overtaken.error() }
          try store.add(rest, to: &changes)
          try addItems(&changes)
          (request.token, request.author) = (entry.commit.token, entry.commit.author)
        }
      }
      return commit.map { position.behind($0) } ?? position
    } catch {
      if error.underlying is Overtaken { return nil }
      throw error
    }
  }
}

import Files
import StoreEngine
import Synchronization

/// A pending write: it is prepared, and becomes visible when it is durable.
///
/// The writes after it are prepared on top of it. If it fails, the writes that depend on it fail,
/// too.
final class WriteUnderWay: CommitFollower {
  private let store: KeyValueStore
  private let turn: CommitTurn
  /// Keys and records of the batch.
  let bytes: [UInt8]
  private let tables: [TableBatch]
  /// The pending writes that this one has read.
  private let basis: [WriteUnderWay]
  private let hasEnded = Atomic(false)
  private let reason = AtomicLazyReference<Reason>()
  /// Stored after the reason: the thread sanitizer does not know the ordering of the reference.
  private let hasFailed = Atomic(false)

  private final class Reason: Sendable {
    let error: StoreError
    init(_ error: StoreError) { self.error = error }
  }

  init(_ batch: KeyValueBatch, _ turn: CommitTurn) {
    (store, self.turn) = (batch.store, turn)
    (bytes, tables, basis) = (batch.bytes, batch.tables, batch.basis)
  }

  /// The reason of a failure; nil if the write has not failed.
  var failure: StoreError? {
    hasFailed.load(ordering: .acquiring) ? reason.load()?.error : nil
  }

  /// The state of a key after the write.
  enum Find {
    case item(TableBatch.Item)
    /// The key is removed with all others.
    case cleared
  }

  /// Returns the state of a key after the write; nil if the write does not change it.
  func find(_ key: RawSpan, _ hash: UInt64, in state: TableState) -> Find? {
    guard let table = tables.first(where: { $0.state === state }) else { return nil }
    if let item = table.find(key, hash, in: bytes) { return .item(table.items[item]) }
    return table.isCleared ? .cleared : nil
  }

  // MARK: Following the commit

  func didQueue() {
    turn.didQueue()
    // A server may refuse this write and make a later one that has read it. So there, the next write
    // waits.
    if store.news == nil { store.endTurn() }
  }

  func willWrite() throws(StoreError) { try basis.requireSuccess() }

  func didCommit() {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    // Publishes before the removal, after which a table of these changes may be dropped.
    publish()
    store.writesUnderWay.remove(self)
  }

  func didFail(_ error: StoreError) {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    _ = reason.storeIfNil(Reason(error))
    hasFailed.store(true, ordering: .releasing)
    store.writesUnderWay.remove(self)
  }

  /// Sends the changes to observers.
  private func publish() {
    guard store.observers.isWatched else { return }
    for table in tables.sorted(by: { $0.state.number < $1.state.number }) {
      var changes: [KeyValueChange] = []
      if table.isCleared { changes.append(KeyValueChange(.cleared, table.state.name, nil)) }
      let items = table.items.map { (key: Array(bytes[$0.key]), kind: $0.kind) }
      for item in items.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        let key = String(decoding: item.key, as: UTF8.self)
        changes.append(KeyValueChange(item.kind, table.state.name, key))
      }
      store.observers.publish(changes, of: table.state)
    }
  }
}

/// The error for a write that depends on a failed write.
struct OutdatedWrite: Error {
  /// The reason why the earlier write failed.
  let cause: StoreError
}

extension StoreError {
  /// Returns the error of a write that depends on a failed write.
  static func outdated(by cause: StoreError) -> StoreError {
    StoreError(
      .conflict, "A write that this one depends on has failed.",
      underlying: OutdatedWrite(cause: cause.causeOfOutdated ?? cause))
  }

  /// The reason why the write that this one depends on failed; nil for any other error.
  var causeOfOutdated: StoreError? { (underlying as? OutdatedWrite)?.cause }
}

extension [WriteUnderWay] {
  /// Throws if one of the writes has failed.
  ///
  /// - Throws: `StoreError` with ``OutdatedWrite`` as its cause.
  func requireSuccess() throws(StoreError) {
    for write in self {
      guard let error = write.failure else { continue }
      throw .outdated(by: error)
    }
  }
}

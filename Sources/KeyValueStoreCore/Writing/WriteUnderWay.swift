import Files
import StoreEngine
import Synchronization

/// A write that has been worked out, and that nobody sees until it is safe.
///
/// The writes behind it are worked out over it. If it fails, those that rest on it do, too.
final class WriteUnderWay: CommitFollower {
  private let store: KeyValueStore
  private let turn: CommitTurn
  /// Keys and records, as the batch has left them.
  let bytes: [UInt8]
  private let tables: [TableBatch]
  /// The writes that were under way, and that this one has looked at.
  private let basis: [WriteUnderWay]
  private let hasEnded = Atomic(false)
  private let reason = AtomicLazyReference<Reason>()
  /// Set behind the reason: the thread sanitizer can't see the order that the reference keeps.
  private let hasFailed = Atomic(false)

  private final class Reason: Sendable {
    let error: StoreError
    init(_ error: StoreError) { self.error = error }
  }

  init(_ batch: KeyValueBatch, _ turn: CommitTurn) {
    (store, self.turn) = (batch.store, turn)
    (bytes, tables, basis) = (batch.bytes, batch.tables, batch.basis)
  }

  /// Why it has failed; nil as long as it has not.
  var failure: StoreError? {
    hasFailed.load(ordering: .acquiring) ? reason.load()?.error : nil
  }

  /// How it leaves a key.
  enum Find {
    case item(TableBatch.Item)
    /// The key goes with all others.
    case cleared
  }

  /// How it leaves a key; nil where it does nothing to it.
  func find(_ key: RawSpan, _ hash: UInt64, in state: TableState) -> Find? {
    guard let table = tables.first(where: { $0.state === state }) else { return nil }
    if let item = table.find(key, hash, in: bytes) { return .item(table.items[item]) }
    return table.isCleared ? .cleared : nil
  }

  // MARK: The way of its commit

  func didQueue() {
    turn.didQueue()
    store.endTurn()
  }

  func willWrite() throws(StoreError) { try basis.requireSuccess() }

  func didCommit() {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    // Behind it, a table may go that this is about.
    publish()
    store.writesUnderWay.remove(self)
  }

  func didFail(_ error: StoreError) {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    _ = reason.storeIfNil(Reason(error))
    hasFailed.store(true, ordering: .releasing)
    store.writesUnderWay.remove(self)
  }

  /// Tells observers.
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

/// A write that a later one depends on has failed.
struct OutdatedWrite: Error {
  /// Why it failed.
  let cause: StoreError
}

extension StoreError {
  /// The error of a write that depends on one that has failed.
  static func outdated(by cause: StoreError) -> StoreError {
    StoreError(
      .conflict, "A write that this one depends on has failed.",
      underlying: OutdatedWrite(cause: cause.causeOfOutdated ?? cause))
  }

  /// Why the write has failed that this one depends on; nil for any other error.
  var causeOfOutdated: StoreError? { (underlying as? OutdatedWrite)?.cause }
}

extension [WriteUnderWay] {
  /// Refuses to go on over a write that has failed.
  ///
  /// - Throws: `StoreError` with ``OutdatedWrite`` as its cause.
  func requireSuccess() throws(StoreError) {
    for write in self {
      guard let error = write.failure else { continue }
      throw .outdated(by: error)
    }
  }
}

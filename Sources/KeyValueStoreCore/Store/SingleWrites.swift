import FoundationEssentials
import Locks
import StoredObjectsCore

/// A put or a delete of one key, on its way.
struct SingleWrite: Sendable {
  enum Change: Sendable {
    case put(StoredValue, expiresAfter: Duration?)
    case delete
  }

  let table: KeyValueTable
  let key: String
  let change: Change

  /// Does it in a batch.
  ///
  /// - Returns: for a delete, whether the key was there.
  func apply(to batch: inout KeyValueBatch) throws -> Bool {
    switch change {
    case .put(let value, let expiresAfter):
      try batch.putStored(value, for: key, in: table, expiresAfter: expiresAfter)
      return true
    case .delete: return try batch.delete(key, from: table)
    }
  }
}

/// Single writes of several threads, which become one commit: while one is brought to the disk, others
/// gather, and the next commit takes all of them.
///
/// Whoever finds nobody at work does the work, his own write and those that have gathered; the others
/// wait until theirs is done, or it is their turn to work.
final class SingleWrites: Sendable {
  private let state = Locked(State())

  private struct State {
    var waiting: [(ticket: Int, write: SingleWrite)] = []
    var results: [Int: Result<Bool, any Error>] = [:]
    var lastTicket = 0
    var isAtWork = false
  }

  /// How many wait for their commit.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// So many at most become one commit.
  private static let mostAtOnce = 1024

  /// Does a write, and returns when it is as durable as the backend makes it.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - perform: Does several writes in one commit, and says of each what became of it; called by one
  ///     thread at a time, and asks for the writes when it is ready to do them.
  /// - Returns: for a delete, whether the key was there.
  /// - Throws: what became of this write, if it failed.
  func perform(
    _ write: SingleWrite,
    _ perform: (_ take: () -> [SingleWrite]) -> [Result<Bool, any Error>]
  ) throws -> Bool {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      state.waiting.append((state.lastTicket, write))
      return state.lastTicket
    }
    while true {
      let done = state.change(once: { $0.results[ticket] != nil || !$0.isAtWork }) { state in
        let done = state.results.removeValue(forKey: ticket)
        if done == nil { state.isAtWork = true }
        return done
      }
      if let done { return try done.get() }
      var taken: [Int] = []
      let results = perform {
        let writes = take()
        taken = writes.map(\.ticket)
        return writes.map(\.write)
      }
      state.change(once: { _ in true }) { state in
        for (ticket, result) in zip(taken, results) { state.results[ticket] = result }
        state.isAtWork = false
      }
    }
  }

  /// The writes that wait, up to the first of a key that comes again: each has to be seen by observers.
  private func take() -> [(ticket: Int, write: SingleWrite)] {
    state.withLock { state in
      var count = min(state.waiting.count, Self.mostAtOnce)
      if count > 1 {
        var keys = Set<TableKey>()
        count =
          state.waiting.prefix(count).firstIndex { !keys.insert(TableKey($0.write)).inserted }
          ?? count
      }
      let taken = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(count)
      return taken
    }
  }

  private struct TableKey: Hashable {
    let table: ObjectIdentifier
    let key: [UInt8]

    init(_ write: SingleWrite) {
      (table, key) = (ObjectIdentifier(write.table.state), Array(write.key.utf8))
    }
  }
}

extension KeyValueStore {
  /// Does a put or a delete, in one commit with those of other threads that come at the same time.
  ///
  /// - Returns: for a delete, whether the key was there.
  func perform(_ write: SingleWrite) throws -> Bool {
    try refuseNesting()
    return try singleWrites.perform(write) { take in
      // Taken when nobody else writes any more, so that as many as possible come along.
      var results: [Result<Bool, any Error>] = []
      do {
        try exclusively {
          var batch = KeyValueBatch(self)
          results = take().map { write in Result { try write.apply(to: &batch) } }
          try finish(&batch)
        }
        return results
      } catch {
        return results.map { result in result.flatMap { _ in .failure(error) } }
      }
    }
  }
}

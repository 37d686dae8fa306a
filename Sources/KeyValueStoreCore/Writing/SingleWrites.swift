import FoundationEssentials
import StoreEngine

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

extension KeyValueStore {
  /// Does a put or a delete, in one commit with those of others that come at the same time.
  ///
  /// - Returns: for a delete, whether the key was there.
  func perform(_ write: SingleWrite) throws -> Bool {
    try refuseNesting()
    return try writes.perform(write, commit)
  }

  /// Commits single writes, which are taken when nobody else writes any more, so that as many as
  /// possible come along.
  func commit(_ take: () -> [SingleWrite]) -> [Result<Bool, any Error>] {
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

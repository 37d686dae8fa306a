import KeyValueStoreCore
import StoreEngine

extension StoreBackend {
  /// Runs a closure that makes a commit, to which it adds items by another closure.
  ///
  /// A key-value store on the backend makes no write meanwhile, and then has the items.
  ///
  /// - Throws: `StoreError`, as `ItemWriter.add(_:to:)` and the closure.
  func committing<Result>(
    _ items: ItemChanges,
    _ body: (
      _ addItems: @escaping (inout ChangeSet) throws(StoreError) -> Void
    ) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if items.isEmpty { return try body { (_) throws(StoreError) in } }
    return try coordinator.whileItemsRest { (news) throws(StoreError) in
      let written = WrittenChanges()
      let result = try body { (changes) throws(StoreError) in
        var writer = try ItemWriter(self)
        try writer.add(items, to: &changes)
        written.changes = changes
      }
      news = written.changes
      return result
    }
  }
}

/// A change set that leaves a closure.
private final class WrittenChanges {
  var changes: ChangeSet?
}

import KeyValueStoreCore
import StoredObjectsCore

/// A key-value store in addition to the objects: counters, and a mark for each increment.
struct SharedValues {
  private let store: KeyValueStore
  let counters: KeyValueTable
  let marks: KeyValueTable

  init(_ backend: any StoreBackend) throws {
    store = try KeyValueStore(backend: backend)
    counters = try store.createTable("counters")
    marks = try store.createTable("marks")
  }

  /// Increments a counter, and adds a mark in the same batch.
  func increment(_ name: String, _ mark: Int64) throws {
    try store.write { batch in
      let count = try batch.get(name, from: counters, as: Int.self) ?? 0
      try batch.put(count + 1, for: name, in: counters)
      try batch.put(name, for: "\(mark)", in: marks)
    }
  }
}

import KeyValueStoreCore
import StoredObjectsCore
import WorkloadData

/// A workload of a key-value store; of the rivals, GRDB does the same in a table.
protocol KeyValueWorkload: Workload {}

extension KeyValueWorkload {
  var timing: Timing { .inside }
  var rivals: Set<String>? { ["grdb", "grdb-optimised"] }
}

/// Puts small items into a table of a key-value store, a thousand in each commit.
struct KeyValuePut: KeyValueWorkload {
  let name = "KeyValuePut"
  let summary = "put items into a key-value table, 1,000 in each commit"
  let defaultCounts = [100_000]

  func run(_ workspace: Workspace, _ count: Int) throws { try putItems(workspace, count) }
}

/// Gets items of a key-value table one by one, in no order.
struct KeyValueGet: KeyValueWorkload {
  let name = "KeyValueGet"
  let summary = "get all items of a key-value table by their keys, in no order"
  let defaultCounts = [100_000]

  func prepare(_ workspace: Workspace, _ count: Int) throws { try putItems(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withTable { table in
      var index = 0
      for _ in 0..<count {
        // A step that visits every index once, because it has no factor in common with round
        // numbers.
        index = (index + 61_803) % count
        let value = try table.get("item \(index)", as: String.self)
        try expect(value == title(index), "item \(index) is another")
      }
    }
  }
}

/// Puts one item in each commit; every commit is durable before the next begins.
struct KeyValueSinglePuts: KeyValueWorkload {
  let name = "KeyValueSinglePuts"
  let summary = "put items into a key-value table, each in a commit of its own"
  let defaultCounts = [2_000]
  let durabilities: [Durability] = [.full, .process]

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withTable { table in
      for index in 0..<count { try table.put(title(index), for: "item \(index)") }
    }
  }
}

/// The same work from many threads at once, as in a server: each waits until its own is durable.
struct KeyValueThreadPuts: KeyValueWorkload {
  let name = "KeyValueThreadPuts"
  let summary = "put items into a key-value table, one by one, from 16 threads at once"
  let defaultCounts = [2_000]

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withTable { table in
      try onThreads(16) { thread in
        for index in stride(from: thread, to: count, by: 16) {
          try table.put(title(index), for: "item \(index)")
        }
      }
    }
  }
}

/// The same work from many tasks, which block no thread while they wait.
struct KeyValueTaskPuts: KeyValueWorkload {
  let name = "KeyValueTaskPuts"
  let summary = "put items into a key-value table, one by one, from 100 tasks at once"
  let defaultCounts = [20_000]
  let durabilities: [Durability] = [.full, .process]
  /// GRDB has only one writer.
  let rivals: Set<String>? = []

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withTable { table in
      try onTasks(100) { task in
        for index in stride(from: task, to: count, by: 100) {
          try await table.put(title(index), for: "item \(index)")
        }
      }
    }
  }
}

private func putItems(_ workspace: Workspace, _ count: Int) throws {
  try workspace.withTable { table in
    for start in stride(from: 0, to: count, by: 1000) {
      try table.store.write { batch in
        for index in start..<min(start + 1000, count) {
          try batch.put(title(index), for: "item \(index)", in: table)
        }
      }
    }
  }
}

extension Workspace {
  /// Opens a key-value store, runs the body on its table, and closes the store.
  func withTable(_ body: (KeyValueTable) throws -> Void) throws {
    let store = try KeyValueStore(backend: openBackend())
    try body(store.createTable("items"))
    try store.close()
  }
}

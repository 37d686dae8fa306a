import GRDB
import WorkloadData

extension Workspace {
  func putItems() throws {
    try withDatabase { queue in
      for start in stride(from: 0, to: count, by: 1000) {
        try queue.write { database in
          for index in start..<min(start + 1000, count) { try put(database, index) }
        }
      }
    }
  }

  func getItems() throws {
    try withDatabase { queue in
      try queue.read { database in
        var index = 0
        for _ in 0..<count {
          index = (index + 61_803) % count
          let value = try engine.item(database, key: "item \(index)")
          try expect(value == "Song \(index)", "item \(index) is another")
        }
      }
    }
  }

  func putSingleItems() throws {
    try withDatabase { queue in
      for index in 0..<count { try queue.write { try put($0, index) } }
    }
  }

  func putItemsFromThreads() throws {
    // One thread at a time uses it, that of the queue.
    nonisolated(unsafe) let workspace = self
    try withDatabase { queue in
      try onThreads(16) { thread in
        for index in stride(from: thread, to: workspace.count, by: 16) {
          try queue.write { try workspace.put($0, index) }
        }
      }
    }
  }

  private func put(_ database: Database, _ index: Int) throws {
    try engine.putItem(database, key: "item \(index)", value: "Song \(index)")
  }
}

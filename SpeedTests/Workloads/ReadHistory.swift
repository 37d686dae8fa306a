import StoredObjectsCore

/// Reads all entries of a history, as a program that follows a store does.
struct ReadHistory: Workload {
  let name = "ReadHistory"
  let summary = "read all entries of a history; each commit has one record"
  let defaultCounts = [1_000_000]
  let durabilities: [Durability] = [.process]
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let backend = store.backend
      let table = try backend.table(named: "Entry")
      try backend.beginHistory()
      for number in 0..<count {
        var changes = ChangeSet(bytes: Array("entry \(number)".utf8))
        let record = ChangeSet.RecordChange(
          kind: .insert, rowID: UInt32(number) + 2, range: 0..<changes.bytes.count)
        changes.tables = [.init(table: table, records: [record])]
        try backend.commit(changes)
      }
    }
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let start = try store.backend.historyStart() ?? 0
      var found = 0
      try store.backend.forEachHistoryEntry(after: start) { entry in
        found += entry.tables[0].records.count
        return .next
      }
      precondition(found == count, "entries are missing")
    }
  }
}

/// Reads all entries of a history as a stream for a copy.
struct StreamHistory: Workload {
  let name = "StreamHistory"
  let summary = "read all entries of a history as a stream"
  let defaultCounts = [1_000_000]
  let durabilities: [Durability] = [.process]
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try ReadHistory().prepare(workspace, count)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      let start = try store.backend.historyStart() ?? 0
      var writer = HistoryStreamWriter(
        behind: try store.backend.historyPosition(after: start))
      let found = try writer.write(store.backend) { _ in }
      precondition(found == count, "entries are missing")
    }
  }
}

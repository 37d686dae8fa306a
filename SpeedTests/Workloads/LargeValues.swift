import StoredObjectsCore

/// Inserts covers, each a little too large for its record, in one save.
struct LargeValueInsert: Workload {
  let name = "LargeValueInsert"
  let summary = "insert objects with values of 17 kB and save them once"
  let defaultCounts = [10_000]
  let durabilities: [Durability] = [.process, .full]
  let rivals: Set<String>? = []

  func run(_ workspace: Workspace, _ count: Int) throws { try insertCovers(workspace, count) }
}

/// Fetches covers one by one, each with its value.
struct LargeValueFetch: Workload {
  let name = "LargeValueFetch"
  let summary = "read the values of 17 kB of all objects"
  let defaultCounts = [10_000]
  let rivals: Set<String>? = []

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertCovers(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [Cover.self]) { store in
      var covers = try store.cursor(over: Cover.self)
      while let cover = try covers.next() {
        let bytes = try cover.picture.bytes()
        try expect(bytes.count == Cover.byteCount && bytes[0] == bytes[1], "another value")
      }
    }
  }
}

private func insertCovers(_ workspace: Workspace, _ count: Int) throws {
  try workspace.withStore(of: [Cover.self]) { store in
    for index in 0..<count {
      let cover = Cover()
      cover.picture = ExternalData(
        [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: Cover.byteCount))
      store.insert(cover)
    }
    try store.saveChanges()
  }
}

import StoredObjectsCore

/// Inserts small buffers, each under its own name.
struct NamedBufferInsert: Workload {
  let name = "NamedBufferInsert"
  let summary = "set named buffers and save them once"
  let defaultCounts = [100_000]

  func run(_ workspace: Workspace, _ count: Int) throws { try insertBuffers(workspace, count) }
}

/// Fetches named buffers one by one.
struct NamedBufferFetch: Workload {
  let name = "NamedBufferFetch"
  let summary = "read all named buffers by their names"
  let defaultCounts = [100_000]

  func prepare(_ workspace: Workspace, _ count: Int) throws { try insertBuffers(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore { store in
      for index in 0..<count {
        var buffer = try store.buffer(named: "Buffer \(index)")
        let number = try buffer?.readUInt32()
        try expect(number == UInt32(index), "buffer \(index) holds another number")
      }
    }
  }
}

private func insertBuffers(_ workspace: Workspace, _ count: Int) throws {
  try workspace.withStore { store in
    for index in 0..<count {
      try store.setBuffer(named: "Buffer \(index)") { $0.write(UInt32(index)) }
    }
    try store.saveChanges()
  }
}

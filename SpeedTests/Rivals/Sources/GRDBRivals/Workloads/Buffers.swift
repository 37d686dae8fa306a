import GRDB

extension Workspace {
  func insertBuffers() throws {
    try withDatabase { queue in
      try queue.write { database in
        for index in 0..<count {
          try engine.insertBuffer(database, name: "Buffer \(index)", bytes: bytes(of: index))
        }
      }
    }
  }

  func fetchBuffers() throws {
    try withDatabase { queue in
      try queue.read { database in
        for index in 0..<count {
          let found = try engine.buffer(database, name: "Buffer \(index)")
          try expect(found == bytes(of: index), "buffer \(index) holds another number")
        }
      }
    }
  }

  private func bytes(of number: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}

import GRDB

extension Place {
  func randomFetch() throws {
    try withDatabase { queue in
      try queue.read { database in
        var random: UInt64 = 88_172_645_463_325_252
        for _ in 0..<count {
          random ^= random << 13
          random ^= random >> 7
          random ^= random << 17
          try lookUp(database, Int(random % UInt64(count * 10)))
        }
      }
    }
  }

  func openClose() throws {
    try withDatabase { queue in
      try queue.read { try lookUp($0, count / 2) }
    }
  }

  private func lookUp(_ database: Database, _ index: Int) throws {
    let song = try engine.song(database, id: Int64(index + 1))
    try expect(song?.seconds == Int64(index % 600), "song \(index) is another")
  }
}

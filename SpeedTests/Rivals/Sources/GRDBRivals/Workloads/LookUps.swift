import GRDB

extension Place {
  func randomFetch() throws {
    try withDatabase { queue in
      try queue.read { database in
        var numbers = Shuffled()
        for _ in 0..<count { try lookUp(database, numbers.next(below: count * 10)) }
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

/// Numbers in an order that no disk likes.
struct Shuffled {
  private var random: UInt64 = 88_172_645_463_325_252

  mutating func next(below count: Int) -> Int {
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    return Int(random % UInt64(count))
  }
}

import Foundation
import Locks
import Testing
import TokyoCabinet

@Suite("Transactions of a hash database")
struct TransactionTests {
  @Test("Writes of a transaction stay when its body returns")
  func commit() throws {
    try withDatabase { db in
      let result = try db.transaction { db in
        try db.put(key: [1], value: [1])
        return 42
      }
      #expect(result == 42)
      #expect(try db.value(forKey: [1]) == [1])
    }
  }

  @Test("Writes of a transaction are undone when its body throws")
  func rollback() throws {
    try withDatabase { db in
      for number in 0..<500 { try db.put(key: key(UInt32(number)), value: [1, 2, 3]) }
      #expect(throws: Planted.self) {
        try db.transaction { db in
          for number in 0..<250 { _ = try db.remove(key: key(UInt32(number))) }
          for number in 250..<900 { try db.put(key: key(UInt32(number)), value: [9]) }
          throw Planted()
        }
      }
      #expect(try db.count == 500)
      for number in 0..<500 {
        #expect(try db.value(forKey: key(UInt32(number))) == [1, 2, 3])
      }
      for number in 500..<900 { try db.put(key: key(UInt32(number)), value: [4]) }
      #expect(try db.count == 900)
    }
  }

  @Test("A transaction that a process did not commit before it died is undone on the next open")
  func killed() throws {
    try withRecords(100) { db in
      let image = db.path + "-image"
      try db.transaction { db in
        for number in 0..<200 { try db.put(key: key(UInt32(number)), value: [1]) }
        // A killed process leaves the files that the operating system has.
        for suffix in ["", ".wal"] {
          try FileManager.default.copyItem(atPath: db.path + suffix, toPath: image + suffix)
        }
      }
      let reopened = try HashDatabase(path: image, mode: .readWrite)
      #expect(!reopened.wasClosedProperly)
      #expect(try reopened.count == 100)
      #expect(try reopened.value(forKey: key(5)) == key(5) + key(5))
      #expect(try reopened.value(forKey: key(150)) == nil)
    }
  }

  @Test("A transaction in a transaction is an error, and the outer one continues")
  func nested() throws {
    try withDatabase { db in
      try db.transaction { db in
        try db.put(key: [1], value: [1])
        #expect(code { try db.transaction { _ in } } == .inTransaction)
        try db.put(key: [2], value: [2])
      }
      #expect(try db.count == 2)
    }
  }

  @Test("Calls on the whole file are refused inside a transaction")
  func wholeFileCalls() throws {
    try withDatabase { db in
      try db.transaction { db in
        let calls: [() throws -> Void] = [
          { try db.close() }, { try db.synchronize() }, { try db.removeAll() },
          { try db.optimize(Tuning()) }, { try db.copy(to: db.path + ".copy") },
        ]
        for call in calls {
          #expect(code(call) == .inTransaction)
        }
      }
    }
  }

  @Test("A scan inside a transaction sees its writes")
  func scanInside() throws {
    try withDatabase { db in
      try db.transaction { db in
        try db.put(key: [1], value: [1])
        var count = 0
        _ = try db.scan { _, _ in
          count += 1
          return .next
        }
        #expect(count == 1)
      }
    }
  }

  @Test("Writes of other threads wait for a transaction, and are not undone with it")
  func otherThreads() throws {
    try withDatabase { db in
      let others = DispatchGroup()
      #expect(throws: Planted.self) {
        try db.transaction { db in
          for number in UInt8(0)..<4 { put(number, into: db, later: others) }
          try db.put(key: [100], value: [1])
          Thread.sleep(forTimeInterval: 0.05)
          throw Planted()
        }
      }
      others.wait()
      let rolledBack = try db.value(forKey: [100])
      #expect(rolledBack == nil)
      #expect(try db.count == 4)
    }
  }

  @Test("Readers, writers, scans and transactions on several threads don't disturb each other")
  func concurrency() throws {
    try withDatabase { db in
      #expect(failures(8) { worker in try work(worker, on: db) } == [])
      let count = try db.count
      #expect(count == 1600)
    }
  }

  private func put(_ number: UInt8, into db: HashDatabase, later group: DispatchGroup) {
    DispatchQueue.global().async(group: group) { try? db.put(key: [number], value: [number]) }
  }

  private func work(_ worker: Int, on db: HashDatabase) throws {
    for round in 0..<400 {
      let new = key(UInt32(worker * 1000 + round))
      switch worker {
      case 0..<3: try db.put(key: new, value: new + new)
      case 3: try db.transaction { try $0.put(key: new, value: new + new) }
      case 4: if round % 20 == 0 { _ = try db.scan { try checked($0, $1) } }
      case 5: if round % 100 == 0 { try db.forEach { _ = try checked($0, $1) } }
      default:
        let wanted = key(UInt32(round))
        if let value = try db.value(forKey: wanted), value != wanted + wanted { throw Planted() }
      }
    }
  }

  private func checked(_ key: RawSpan, _ value: RawSpan) throws -> HashDatabase.ScanStep {
    if bytes(value) != bytes(key) + bytes(key) { throw Planted() }
    return .next
  }
}

/// Runs a closure on several threads at once, and gathers the errors.
func failures(_ threads: Int, _ body: @Sendable (Int) throws -> Void) -> [String] {
  let failures = Locked<[String]>([])
  DispatchQueue.concurrentPerform(iterations: threads) { worker in
    do { try body(worker) } catch { failures.withLock { $0.append("\(error)") } }
  }
  return failures.withLock { $0 }
}

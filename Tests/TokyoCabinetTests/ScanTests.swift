import Testing
import TokyoCabinet

@Suite("Scans of a hash database")
struct ScanTests {
  @Test("A scan lends every record once", arguments: [0, 1, 2, 5000])
  func whole(count: Int) throws {
    try withRecords(count) { db in
      var seen: [[UInt8]] = []
      let end = try db.scan { key, value in
        seen.append(bytes(key))
        #expect(bytes(value) == bytes(key) + bytes(key))
        return .next
      }
      #expect(end.isFinished)
      #expect(seen.count == count)
      #expect(Set(seen).count == count)
    }
  }

  @Test("A paused scan continues after the record it paused at")
  func pausing() throws {
    try withRecords(1000) { db in
      var seen: [[UInt8]] = []
      var position: HashDatabase.ScanPosition?
      while true {
        let end = try db.scan(from: position) { key, _ in
          seen.append(bytes(key))
          return seen.count % 7 == 0 ? .pause : .next
        }
        guard case .paused(let next) = end else { break }
        position = next
      }
      #expect(seen.count == 1000)
      #expect(Set(seen).count == 1000)
    }
  }

  @Test("Scans nest without disturbing each other")
  func nesting() throws {
    try withRecords(50) { db in
      var pairs = 0
      let end = try db.scan { _, _ in
        let inner = try db.scan { _, _ in
          pairs += 1
          return .next
        }
        #expect(inner.isFinished)
        return .next
      }
      #expect(end.isFinished)
      #expect(pairs == 2500)
    }
  }

  @Test("A position from before a write is stale, and lends nothing")
  func stale() throws {
    try withRecords(10) { db in
      guard case .paused(let position) = try db.scan({ _, _ in .pause }) else {
        Issue.record("did not pause")
        return
      }
      try db.put(key: [1], value: [1])
      let end = try db.scan(from: position) { _, _ in
        Issue.record("lent a record")
        return .next
      }
      #expect(end.isDisturbed)
    }
  }

  @Test("A write during a scan ends it with an error")
  func disturbedMeanwhile() throws {
    try withRecords(20_000) { db in
      var count = 0
      let end = try db.scan { _, _ in
        count += 1
        if count == 1 { try db.put(key: [1], value: [1]) }
        return .next
      }
      #expect(end.isDisturbed)
      #expect(count < 20_000)
    }
  }

  @Test("Cursors and their copies are independent")
  func cursors() throws {
    try withRecords(30) { db in
      var outer = db.makeCursor()
      var pairs = 0
      while try outer.next() != nil {
        var inner = outer
        while try inner.next() != nil { pairs += 1 }
      }
      #expect(pairs == 30 * 29 / 2)
      #expect(try outer.next() == nil)
    }
  }

  @Test("A cursor in a changed database reports it")
  func disturbedCursor() throws {
    try withRecords(3) { db in
      var cursor = db.makeCursor()
      _ = try cursor.next()
      try db.put(key: [9], value: [])
      #expect(code { _ = try cursor.next() } == .disturbed)
    }
  }

  @Test("forEach lends every record once")
  func forEach() throws {
    try withRecords(3000) { db in
      var seen: Set<[UInt8]> = []
      try db.forEach { key, value in
        seen.insert(bytes(key))
        #expect(value.byteCount == 8)
      }
      #expect(seen.count == 3000)
    }
  }

  @Test("An error in the body of forEach is passed through the C library")
  func forEachThrows() throws {
    try withRecords(100) { db in
      var count = 0
      #expect(throws: Planted.self) {
        try db.forEach { _, _ in
          count += 1
          if count == 5 { throw Planted() }
        }
      }
      #expect(count == 5)
      try db.put(key: [1], value: [1])
    }
  }

  @Test("The body of forEach can't write, iterate or close: each is an error")
  func forEachIsGuarded() throws {
    try withRecords(2) { db in
      let calls: [(HashDatabase) throws -> Void] = [
        { try $0.put(key: [1], value: [1]) }, { _ = try $0.scan { _, _ in .next } },
        { try $0.close() }, { try $0.forEach { _, _ in } }, { try $0.transaction { _ in } },
        { try $0.synchronize() },
      ]
      for call in calls {
        #expect(code { try db.forEach { _, _ in try call(db) } } == .inForEach)
      }
      let count = try db.count
      #expect(count == 2)
    }
  }
}

/// Copies lent bytes.
func bytes(_ span: RawSpan) -> [UInt8] {
  unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
}

/// Runs a test on a database with records of 4-byte keys, the value being the key twice.
func withRecords(_ count: Int, _ body: (HashDatabase) throws -> Void) throws {
  try withDatabase(Tuning(alignmentPower: 2)) { db in
    for number in 0..<UInt32(count) {
      try db.put(key: key(number), value: key(number) + key(number))
    }
    try body(db)
  }
}

extension HashDatabase.ScanEnd {
  var isFinished: Bool { if case .finished = self { true } else { false } }
  var isDisturbed: Bool { if case .disturbed = self { true } else { false } }
}

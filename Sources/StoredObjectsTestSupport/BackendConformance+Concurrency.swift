import Foundation
import Locks
import StoredObjectsCore
import Synchronization

extension BackendConformance {
  static let concurrency: [Check] = [
    .opened("Readers on other threads see complete records during commits") { backend in
      try readDuringCommits(backend)
    },
    .opened("Commits of several threads are all saved, each completely") { backend in
      let songs = try backend.table(named: "Song")
      let lists = try backend.table(named: "Playlist")
      let writers = (0..<UInt32(4)).map { writer in
        { @Sendable () throws -> Void in
          for number in 0..<UInt32(100) {
            let row = 2 + number * 4 + writer
            try backend.commit {
              $0.insert(row, in: songs, row.bytes)
              $0.insert(row, in: lists, row.bytes)
              $0.set("Name \(row)", row.bytes)
            }
            try expectEqual(try backend.record(row, in: lists), row.bytes, "the writer's own row")
          }
        }
      }
      try runOnThreads(writers)
      for table in [songs, lists] {
        let records = try backend.records(in: table)
        try expectEqual(records.count, 400, "number of records")
        for (row, record) in records { try expectEqual(record, row.bytes, "row \(row)") }
        try expectEqual(try backend.recordCount(in: table), 400, "count")
      }
      try expectEqual(try backend.bufferNames().count, 400, "number of names")
    },
    .opened("Of several threads that insert the same row, one succeeds") { backend in
      let table = try backend.table(named: "Song")
      let successes = Atomic(0)
      let writers = (0..<UInt8(4)).map { writer in
        { @Sendable () throws -> Void in
          for row in 2..<UInt32(102) {
            do {
              try backend.commit { $0.insert(row, in: table, [writer]) }
              successes.wrappingAdd(1, ordering: .relaxed)
            } catch let error as StoreError {
              try expectEqual(error.code, .rowExists, "the error of the later ones")
            }
          }
        }
      }
      try runOnThreads(writers)
      try expectEqual(successes.load(ordering: .relaxed), 100, "inserts that went through")
      try expectEqual(try backend.recordCount(in: table), 100, "count")
    },
    .opened("Changes on a basis, tried again after conflicts, are never lost") {
      backend in
      try countOnThreads(backend)
    },
    .opened("Tables can be requested on several threads at once") { backend in
      let found = Locked<[[TableID]]>([])
      let threads = (0..<4).map { _ in
        { @Sendable () throws -> Void in
          let tables = try (0..<50).map { try backend.table(named: "Class\($0)") }
          found.withLock { $0.append(tables) }
        }
      }
      try runOnThreads(threads)
      let all = found.withLock(\.self)
      try expect(all.allSatisfy { $0 == all.first }, "a name has two tables")
      try expectEqual(Set(all.first ?? []).count, 50, "number of tables")
    },
  ]

  private static func countOnThreads(_ backend: any StoreBackend) throws {
    let table = try backend.table(named: "Song")
    try backend.commit { for row in 2...UInt32(4) { $0.insert(row, in: table, UInt32(0).bytes) } }
    let counters = (0..<4).map { thread in
      { @Sendable () throws -> Void in
        for round in 0..<60 {
          let row = UInt32(2 + (thread + round) % 3)
          while try !addOne(to: row, of: table, backend) {}
        }
      }
    }
    try runOnThreads(counters)
    let sum = try backend.records(in: table).values.reduce(0) { sum, record in
      var buffer = DataBuffer(record)
      return sum + Int(try buffer.readUInt32())
    }
    try expectEqual(sum, 240, "the sum of all counters")
    try expectEqual(backend.lastCommitNumber, 241, "the number of the last commit")
  }

  /// Increments a counter; returns false if another thread has changed it since.
  private static func addOne(
    to row: UInt32, of table: TableID, _ backend: any StoreBackend
  ) throws -> Bool {
    let basis = CommitBasis(upTo: backend.lastCommitNumber)
    var record = DataBuffer(try backend.record(row, in: table) ?? [])
    var changes = ChangeSetBuilder()
    changes.update(row, in: table, (try record.readUInt32() + 1).bytes)
    do {
      try backend.commit(changes.changeSet, CommitRequest(basis: basis))
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }

  /// Checks that each record and name consists of one number, and has the length for that number.
  private static func readDuringCommits(_ backend: any StoreBackend) throws {
    let table = try backend.table(named: "Song")
    @Sendable func record(_ number: UInt8) -> [UInt8] {
      Array(repeating: number, count: 1 + Int(number) * 37)
    }
    @Sendable func write(_ number: UInt8) throws {
      try backend.commit { changes in
        for row in 2...UInt32(20) { changes.update(row, in: table, record(number)) }
        changes.set("Name", record(number))
      }
    }
    @Sendable func check(_ bytes: [UInt8]?) throws {
      guard let bytes, let number = bytes.first, bytes == record(number) else {
        throw ConformanceFailure("a record is missing, or of two commits")
      }
    }
    try write(0)
    let isDone = Atomic(false)
    let rounds = Atomic(0)
    let writer = { @Sendable () throws -> Void in
      defer { isDone.store(true, ordering: .releasing) }
      for number in 0..<300 { try write(UInt8(number % 200)) }
    }
    let reader = { @Sendable () throws -> Void in
      repeat {
        for row in 2...UInt32(20) { try check(try backend.record(row, in: table)) }
        try check(try backend.namedBuffer("Name"))
        let records = try backend.records(in: table)
        try expectEqual(records.count, 19, "records in a scan")
        for bytes in records.values { try check(bytes) }
        try expectEqual(try backend.recordCount(in: table), 19, "count")
        rounds.wrappingAdd(1, ordering: .relaxed)
      } while !isDone.load(ordering: .acquiring)
    }
    try runOnThreads([writer, reader, reader, reader])
  }

  /// Runs each closure on a thread of its own, and throws the first error.
  static func runOnThreads(_ bodies: [@Sendable () throws -> Void]) throws {
    let errors = Errors()
    let group = DispatchGroup()
    for body in bodies {
      group.enter()
      let thread = Thread {
        do { try body() } catch { errors.add(error) }
        group.leave()
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
    group.wait()
    if let error = errors.first { throw error }
  }

  /// Runs a closure on a number of threads, passing the number of each, and throws the first error.
  package static func runOnThreads(
    _ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Void
  ) throws {
    try runOnThreads((0..<count).map { number in { try body(number) } })
  }

  private final class Errors: Sendable {
    private let errors = Locked<[any Error]>([])
    func add(_ error: any Error) { errors.withLock { $0.append(error) } }
    var first: (any Error)? { errors.withLock(\.first) }
  }
}

import Foundation
import Locks
import StoredObjectsCore
import Testing

@testable import TokyoCabinetBackend

@Suite("Tokyo Cabinet backend: many threads")
struct TokyoCabinetConcurrencyTests {
  typealias Fixtures = TokyoFixtures

  @Test("Readers on many threads see all of each commit to two tables, and no failed one")
  func readersBesideCommits() throws {
    try Fixtures.withDirectory { directory in
      let backend = try TokyoCabinetBackend(directory: directory)
      let songs = try backend.table(named: "Song")
      let rows = UInt32(2)..<500
      try backend.commit(Fixtures.changes(songs, rows.map { (.insert, $0, [0]) }))
      let problems = Self.problems(5) { worker in
        for round in UInt8(1)..<30 {
          switch worker {
          case 0:
            try backend.commit(Fixtures.changes(songs, rows.map { (.update, $0, [round]) }))
          case 1:
            let bad = Fixtures.changes(songs, [(.update, 2, [255]), (.insert, 3, [255])])
            _ = Fixtures.error { try backend.commit(bad) }
          case 2, 3:
            try Self.checkScan(backend, songs, count: rows.count)
          default:
            for row in rows where try Fixtures.record(row, songs, backend) == [255] {
              throw Seen(what: "a change that was taken back")
            }
          }
        }
      }
      #expect(problems == [])
      try backend.close()
    }
  }

  /// Every record once, and all of them as one commit left them.
  private static func checkScan(
    _ backend: TokyoCabinetBackend, _ table: TableID, count: Int
  ) throws {
    var (rows, values) = (Set<UInt32>(), Set<[UInt8]>())
    _ = try backend.scan(table, from: nil) { row, bytes in
      rows.insert(row)
      values.insert(Fixtures.bytes(bytes))
      return .next
    }
    if rows.count != count { throw Seen(what: "\(rows.count) of \(count) rows") }
    if values.count != 1 { throw Seen(what: "a mixture of commits: \(values)") }
  }

  private struct Seen: Error { let what: String }

  private static func problems(
    _ threads: Int, _ body: @Sendable (Int) throws -> Void
  ) -> [String] {
    let problems = SharedLock<[String]>([])
    DispatchQueue.concurrentPerform(iterations: threads) { worker in
      do { try body(worker) } catch { problems.withLock { $0.append("\(error)") } }
    }
    return problems.withLock { $0 }
  }
}

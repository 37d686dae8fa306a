import CDBBackend
import Foundation
import StoredObjectsTestSupport
import Synchronization
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("Large saves as seen by readers")
struct WholeSavesTests {
  private static let names = ["A", "B", "C"]
  private let limits = CheckpointLimits(logBytes: 1 << 20, filePart: 1000, bulkBytes: 1000)

  /// A thread of its own that reads row 2 of each table.
  private final class Reader: Sendable {
    let counts = Mutex<[Int?]>([])
    private let end = DispatchSemaphore(value: 0)

    init(_ backend: CDBBackend, _ tables: [TableID]) {
      Thread.detachNewThread {
        let found = tables.map { (try? backend.record(2, in: $0))?.count }
        self.counts.withLock { $0 = found }
        self.end.signal()
      }
    }

    /// Whether the reader has ended before that time.
    func hasEnded(within seconds: Double) -> Bool {
      guard end.wait(timeout: .now() + seconds) == .success else { return false }
      end.signal()
      return true
    }
  }

  @Test(
    "Between the renames of several files a reader finds the save in all of them, or in none")
  func betweenRenames() throws {
    let disk = try CrashingDirectory()
    let backend = try CDBBackend(disk, limits: limits)
    let tables = try Self.names.map { try backend.table(named: $0) }
    try backend.commit { for table in tables { $0.insert(2, in: table, [1]) } }
    try backend.checkpoint()
    let readers = Mutex<[Reader]>([])
    disk.observeRenames { _ in
      let reader = Reader(backend, tables)
      // The reader may have to wait until all files have their names.
      _ = reader.hasEnded(within: 0.05)
      readers.withLock { $0.append(reader) }
    }
    let large = [UInt8](repeating: 2, count: 800)
    try backend.commit { for table in tables { $0.update(2, in: table, large) } }
    disk.observeRenames(nil)
    let all = readers.withLock { $0 }
    #expect(all.count >= Self.names.count)
    for (number, reader) in all.enumerated() {
      #expect(reader.hasEnded(within: 60))
      let counts = reader.counts.withLock { $0 }
      #expect(Set(counts).count == 1, "reader \(number): \(counts)")
    }
    try backend.close()
  }
}

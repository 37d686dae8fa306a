import CDBBackend
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("A large save with files that could not all be renamed")
struct HalfPublishedTests {
  private let limits = CheckpointLimits(logBytes: 1 << 20, filePart: 1000, bulkBytes: 1000)

  @Test("Readers see none of it before, and are refused or see all of it after, at each call")
  func everyCall() throws {
    var (number, refusals) = (0, 0)
    var hasFailed = true
    while hasFailed {
      defer { number += 1 }
      let disk = try CrashingDirectory()
      let backend = try CDBBackend(disk, limits: limits)
      let tables = try ["A", "B", "C"].map { try backend.table(named: $0) }
      try backend.commit { for table in tables { $0.insert(2, in: table, [1]) } }
      try backend.checkpoint()
      disk.plan(.fail(at: number, errno: 5))
      let large = [UInt8](repeating: 2, count: 800)
      let isSaved =
        (try? backend.commit { for table in tables { $0.update(2, in: table, large) } }) != nil
      hasFailed = disk.operations.count > number
      disk.plan(.none)
      let found = tables.map { try? backend.record(2, in: $0) }
      if found.contains(nil) {
        refusals += 1
        #expect(found.allSatisfy { $0 == nil }, "call \(number): some are refused")
        #expect(
          LogFixture.error { _ = try backend.recordCount(in: tables[0]) }?.code == .reopenNeeded)
      } else {
        #expect(Set(found.map { $0?.count }).count == 1, "call \(number): half of it is seen")
      }
      try backend.close()
      let again = try CDBBackend(disk, limits: limits)
      let reopened = try ["A", "B", "C"].map { try again.record(2, in: again.table(named: $0)) }
      #expect(Set(reopened).count == 1, "call \(number): half of it is there")
      #expect(!isSaved || reopened[0] == large)
    }
    #expect(number > 20 && refusals >= 3)
  }
}

import Foundation
import LiveResultsTesting
import PostgreSQLBackend
import StoredObjectsTestSupport
import TestFiles
import TestServer
import Testing

@Suite("Live results of a server under random changes", .needsServer, .hangLimit)
struct LiveResultsTests {
  /// The number of saves, a twentieth of those on other backends, because fetching again takes many
  /// round trips; some, in a time that is short, unless it is set.
  private static let saves = ProcessInfo.processInfo.environment["STOREDOBJECTS_LIVE_SAVES"]
    .flatMap { Int($0) }.map { $0 / 20 }

  @Test(
    "After random changes by several stores, live results equal a new fetch",
    arguments: TestDatabase.keys.map { $0 != nil })
  func results(isEncrypted: Bool) throws {
    var random = Seeds.generator(for: "live results of a server, \(isEncrypted)")
    let end = ContinuousClock.now + .seconds(1.5)
    var saves = 0
    func isDone() -> Bool { Self.saves.map { saves >= $0 } ?? (ContinuousClock.now > end) }
    while !isDone() {
      let backend = try TestDatabase(key: isEncrypted ? TestDatabase.keys[1] : nil).backend()
      saves += try LiveRun.saves(on: backend, seed: random.next(), until: isDone)
      backend.close()
    }
    print("PostgreSQL, \(isEncrypted ? "encrypted" : "plain"): \(saves) saves")
  }
}

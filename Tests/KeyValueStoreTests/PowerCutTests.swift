import Files
import Foundation
import KeyValueStoreCore
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Power cuts")
struct PowerCutTests {
  private static let batches = 24

  /// The contents of the store after some batches, by table.
  private typealias Image = [String: [String: Int]]

  private func open(_ disk: CrashingDirectory, _ kind: TestedBackend) throws -> KeyValueStore {
    var limits = CheckpointLimits(logBytes: 1500, filePart: 1000, bulkBytes: 3000)
    limits.logGrowth = 8 << 10
    limits.segments = .small
    return try KeyValueStore(backend: kind.open(disk, limits: limits))
  }

  /// Writes a batch to both tables; each fifth is large, some clear, some drop and create again.
  private func write(_ number: Int, _ store: KeyValueStore) throws {
    let (a, b) = (try store.createTable("a"), try store.createTable("b"))
    try store.write { batch in
      if number % 7 == 0 { try batch.removeAll(from: a) }
      for index in 0..<(number % 5 == 0 ? 60 : 3) {
        let life: Duration? = index % 3 == 0 ? .seconds(100_000) : nil
        try batch.put(number, for: "\(number % 4) \(index)", in: a, expiresAfter: life)
        try batch.put(number, for: "\(index)", in: b)
      }
      try batch.deleteAll(prefix: "\((number + 2) % 4) ", from: a)
    }
  }

  private func image(_ store: KeyValueStore) throws -> Image {
    var image: Image = [:]
    for name in store.tableNames() {
      let items = try store.table(name).all.items()
      #expect(try store.table(name).count() == items.count)
      image[name] = try Dictionary(
        uniqueKeysWithValues: items.map { ($0.key, try $0.decoded(as: Int.self)) })
    }
    return image
  }

  @Test(
    "After any power cut, acknowledged batches are there, and the next one is complete or missing",
    arguments: [TestedBackend.tokyoCabinet, .encryptedTokyoCabinet])
  func everywhere(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts of key-value stores")
    // The contents after each batch; tables are created between two of them.
    var images: [Image] = [[:]]
    let reference = try KeyValueStore(backend: MemoryBackend())
    for number in 1...Self.batches {
      try write(number, reference)
      images.append(try image(reference))
    }
    let disk = try CrashingDirectory()
    try run(disk, kind) { _ in }
    let operations = disk.operations
    let changes = disk.changes
    #expect(operations.contains(.rename) && changes.count > 100)
    for cut in changes {
      let disk = try CrashingDirectory()
      disk.plan(.cutPower(at: cut))
      var acknowledged = 0
      do { try run(disk, kind) { acknowledged = $0 } } catch {}
      let rebooted = try disk.afterPowerCut(using: &generator)
      let store = try open(rebooted, kind)
      let found = try image(store).filter { !$0.value.isEmpty }
      let last = images.lastIndex { $0.filter { !$0.value.isEmpty } == found }
      #expect(
        last == acknowledged || last == acknowledged + 1,
        "cut at \(cut), \(operations[cut]): after \(acknowledged) there is \(last ?? -1)")
    }
  }

  private func run(
    _ disk: CrashingDirectory, _ kind: TestedBackend, _ acknowledge: (Int) -> Void
  ) throws {
    var store = try open(disk, kind)
    for number in 1...Self.batches {
      if number % 9 == 0 {
        try store.close()
        store = try open(disk, kind)
      }
      try write(number, store)
      acknowledge(number)
    }
    try store.close()
  }
}

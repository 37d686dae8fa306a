#if Macros
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  private let limit = 8192

  @Stored private final class Sleeve: StoredObject {
    @External(above: 4096) var front = ExternalData()
    @External(above: limit) var back: ExternalData?
    @External(above: 1 << 20) var pages: [ExternalData] = []
    var notes = ExternalData()
  }

  @Suite("Limits for values outside of records by attributes")
  struct ExternalMacroTests {
    private func bytes(_ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }

    /// How many values are stored outside of records.
    private func outside(_ backend: MemoryBackend) throws -> Int {
      try backend.externalStorage?.list().count ?? 0
    }

    @Test("A value above the limit of its property is stored outside, and others are not")
    func limits() throws {
      let disk = MemoryDisk()
      try Session.run(disk, Sleeve.self) { session in
        let sleeve = Sleeve()
        sleeve.front = ExternalData(bytes(4096))
        sleeve.back = ExternalData(bytes(limit))
        sleeve.pages = [ExternalData(bytes(100_000))]
        sleeve.notes = ExternalData(bytes(16 << 10))
        try session.save(sleeve)
        #expect(try outside(session.backend) == 0)
        sleeve.front = ExternalData(bytes(4097))
        try session.store.saveChanges()
        #expect(try outside(session.backend) == 1)
        sleeve.back = ExternalData(bytes(limit + 1))
        try session.store.saveChanges()
        #expect(try outside(session.backend) == 2)
      }
      try Session.run(disk, Sleeve.self) { session in
        let sleeve = try #require(try session.store.allObjects(of: Sleeve.self).first)
        #expect(try sleeve.front.bytes() == bytes(4097))
        #expect(try sleeve.back?.bytes() == bytes(limit + 1))
        #expect(try sleeve.pages.first?.bytes() == bytes(100_000))
        #expect(try session.store.check().findings == [])
      }
    }
  }
#endif

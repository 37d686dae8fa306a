import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Checking a backend without its classes")
struct BackendCheckTests {
  private let backend: MemoryBackend

  init() throws { backend = try MemoryBackend() }

  /// A metadata row.
  private func row(_ classID: UInt8, last: UInt32, version: UInt8 = 0, checksums: Bool = false)
    -> [UInt8]
  {
    var buffer = DataBuffer()
    ClassMetadata(
      lastRowID: last, classVersion: version, classID: classID, salt: .init(1, 2),
      flags: checksums ? .checksums : []
    ).write(to: &buffer)
    return buffer.bytes
  }

  private func kinds() throws -> [StoreFinding.Kind] {
    try BackendCheck(backend).run().findings.map(\.kind)
  }

  private func put(_ name: String, _ records: [UInt32: [UInt8]]) throws {
    let table = try backend.table(named: name)
    try backend.commit { changes in
      for (rowID, record) in records { changes.update(rowID, in: table, record) }
    }
  }

  @Test("An empty store has no findings, and neither have classes with consecutive rows")
  func sound() throws {
    #expect(try kinds() == [])
    try put("A", [1: row(0, last: 2), 2: [0, 7]])
    try put("B", [1: row(1, last: 1)])
    #expect(try kinds() == [])
  }

  @Test("Records without a metadata row are found")
  func metadataMissing() throws {
    try put("A", [2: [0]])
    #expect(try kinds() == [.metadataMissing])
  }

  @Test("A metadata row that is cut off or has a wrong checksum is found")
  func metadataDamaged() throws {
    var wrong = row(0, last: 1)
    wrong[0] ^= 1
    for bytes in [[], [1, 2, 3], wrong, row(0, last: 1) + [0]] {
      try put("A", [1: bytes])
      #expect(try kinds() == [.metadataDamaged])
    }
  }

  @Test("Row 0 and rows above the last assigned one are found, each with its row")
  func rowOutOfRange() throws {
    try put("A", [1: row(0, last: 3), 3: [0], 4: [0], 0: [0]])
    let findings = try BackendCheck(backend).run().findings
    #expect(findings.map(\.kind) == [.rowOutOfRange, .rowOutOfRange])
    #expect(Set(findings.map(\.location.rowID)) == [0, 4])
  }

  @Test("Two classes with one ID are found, and an ID without a class")
  func classIDs() throws {
    try put("A", [1: row(0, last: 1)])
    try put("B", [1: row(0, last: 1)])
    #expect(try kinds() == [.classID])
    try put("B", [1: row(2, last: 1)])
    #expect(try kinds() == [.classMissing])
  }

  @Test("An empty record of a class with versions is found, and a record of a later version")
  func versions() throws {
    try put("A", [1: row(0, last: 3, version: 1), 2: [], 3: [2]])
    #expect(try kinds() == [.recordDamaged, .newerVersion])
  }

  @Test("Checksums are compared if the metadata row says that records have them")
  func checksums() throws {
    let sum = RecordChecksum.checksum([0, 7].span, classID: 0, rowID: 2)
    let record: [UInt8] = [0, 7] + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    try put("A", [1: row(0, last: 3, checksums: true), 2: record])
    #expect(try kinds() == [])
    try put("A", [3: record])
    #expect(try kinds() == [.checksum])
  }

  @Test("A named buffer with a wrong checksum is found; one without a checksum is accepted")
  func namedBuffers() throws {
    var sealed = NamedBufferChecksum.sealed([1, 2], name: "x")
    try backend.commit {
      $0.set("x", sealed)
      $0.set("original", [1])
    }
    #expect(try kinds() == [])
    sealed[0] ^= 1
    try backend.commit { $0.set("x", sealed) }
    let findings = try BackendCheck(backend).run().findings
    #expect(findings.map(\.kind) == [.namedBuffer])
    #expect(findings.first?.message.contains("\"x\"") == true)
  }

  @Test("Findings above the limit are counted and not kept")
  func limit() throws {
    var records: [UInt32: [UInt8]] = [1: row(0, last: 1)]
    for rowID in 2..<UInt32(StoreCheck.findingLimit + 5) { records[rowID] = [0] }
    try put("A", records)
    let check = try BackendCheck(backend).run()
    #expect(check.findings.count == StoreCheck.findingLimit && check.omittedCount == 3)
  }

  @Test("The description of a finding has the kind, the place and the message")
  func description() {
    let finding = StoreFinding(
      .checksum, "It is wrong.", at: .init(path: "p", className: "A", rowID: 2, offset: 3))
    #expect("\(finding)" == "checksum [p, class A, row 2, offset 3]: It is wrong.")
    #expect("\(StoreFinding(.log, "Bad."))" == "log: Bad.")
  }
}

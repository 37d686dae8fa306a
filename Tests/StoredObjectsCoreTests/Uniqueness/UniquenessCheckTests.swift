import StoredObjectsCore
import Testing

/// The class as it was before it was said that its numbers are unique.
private class Ticket: StoredObject {
  @Content final var number: Int64 = 0

  override class var storedName: String { "Ticket" }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(number) }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readInt64()
  }
}

private final class UniqueTicket: Ticket {
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("number", \UniqueTicket.number, isUnique: true)]
  }
}

@Suite("Checks of uniqueness")
struct UniquenessCheckTests {
  @Test("A check names duplicates also if the index is not built yet, and builds none")
  func withoutIndex() throws {
    let backend = try MemoryBackend()
    let earlier = Store(backend: backend)
    try earlier.register(Ticket.self)
    for number: Int64 in [1, 2, 3, 2, 4, 2, 1] {
      let ticket = Ticket()
      ticket.number = number
      earlier.insert(ticket)
    }
    try earlier.saveChanges()
    let store = Store(backend: backend)
    try store.register(UniqueTicket.self)
    let duplicates = try store.check().findings.filter { $0.kind == .duplicate }
    #expect(duplicates.count == 1)
    #expect(duplicates.first?.location.rowID == 5)
    #expect(duplicates.first?.message.contains("Row 3 ") == true)
    #expect(duplicates.first?.message.contains("2 more") == true)
    #expect(try backend.orderedTableNames().isEmpty)
    // The same once it is made.
    try store.buildIndexes()
    #expect(try store.check().findings.filter { $0.kind == .duplicate } == duplicates)
  }
}

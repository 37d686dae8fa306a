import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// A class as one program has it, and as another one.
private class Before: StoredObject {
  @Content var title = "Ada"
  override class var storedName: String { "Letter" }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }
}

private final class After: Before {
  @Content var note = ""
  override func writeContent(to buffer: inout DataBuffer) {
    super.writeContent(to: &buffer)
    buffer.write(note)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    try super.readContent(from: &buffer)
    note = try buffer.readString()
  }
}

@Suite("A class that has changed without a new version")
struct ChangedClassTests {
  private func message(
    _ writer: Before.Type, _ reader: Before.Type, checksums: Bool = true
  ) throws -> String {
    let disk = MemoryDisk()
    func run(_ type: Before.Type, _ body: (Store) throws -> Void) throws {
      let backend = try MemoryBackend(disk: disk)
      defer { backend.close() }
      let store = Store(backend: backend, configuration: .init(checksumsRecords: checksums))
      try store.register(type)
      try body(store)
    }
    try run(writer) { store in
      store.insert(writer.init())
      try store.saveChanges()
      // As a release has left it that kept no layouts.
      try store.backend.commit { $0.set("Letter..layouts", nil) }
    }
    var text = ""
    try run(reader) { store in
      let error = #expect(throws: StoreError.self) { try store.object(reader, rowID: 2) }
      #expect(error?.code == .damaged && error?.location.rowID == 2)
      #expect(throws: StoreError.self) { try store.allObjects(of: reader) }
      text = error?.message ?? ""
    }
    return text
  }

  @Test("An error for its records explains the change and what to write")
  func changed() throws {
    let added = try message(Before.self, After.self)
    #expect(added.contains("endOfBuffer") && added.contains("so the class has changed"))
    #expect(added.contains("needs @Since, one that is gone @Dropped"))
    let removed = try message(After.self, Before.self)
    #expect(removed.contains("unreadBytes") && removed.contains("so the class has changed"))
  }

  @Test("Without checksums, the error says that damage is as likely")
  func withoutChecksums() throws {
    let text = try message(Before.self, After.self, checksums: false)
    #expect(text.contains("is damaged, or the class has changed since version 0 wrote it"))
    #expect(!text.contains("versionsRecords"))
  }

  @Test("A record of the original without versions names the setting that reads it")
  func unversioned() throws {
    func backend() throws -> MemoryBackend {
      let backend = try MemoryBackend()
      let table = try backend.table(named: "Letter")
      var metadata = DataBuffer()
      ClassMetadata(lastRowID: 2, classVersion: 0, classID: 0, salt: .init(1, 2), flags: nil)
        .write(to: &metadata)
      let record = DataBuffer.holding { $0.write("Sunny!") }
      try backend.commit { changes in
        changes.insert(1, in: table, metadata.bytes)
        changes.insert(2, in: table, record.bytes)
      }
      return backend
    }
    let store = Store(backend: try backend())
    try store.register(Before.self)
    let error = #expect(throws: StoreError.self) { try store.object(Before.self, rowID: 2) }
    #expect(error?.code == .newerVersion)
    #expect(error?.message.contains("StoreConfiguration(versionsRecords: false)") == true)
    let right = Store(
      backend: try backend(), configuration: .init(versionsRecords: false))
    try right.register(Before.self)
    #expect(try right.object(Before.self, rowID: 2)?.title == "Sunny!")
  }
}

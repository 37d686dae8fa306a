import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// A note as a program had it, and as a later one has it.
private final class Note: StoredObject {
  @Content var text = ""

  override class var storedName: String { "Note" }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
}

private final class LaterNote: StoredObject {
  @Content var text = ""
  @Content var color: UInt8 = 0

  override class var storedName: String { "Note" }
  override class var classVersion: UInt8 { 1 }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(color)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    color = buffer.version >= 1 ? try buffer.readUInt8() : 7
  }
}

/// The later one by someone who forgot to raise the version.
private final class CarelessNote: StoredObject {
  @Content var text = ""
  @Content var color: UInt8 = 0

  override class var storedName: String { "Note" }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(color)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    color = try buffer.readUInt8()
  }
}

@Suite("A saved history and the versions of classes")
struct UndoVersionTests {
  private let disk = MemoryDisk()

  private func run(_ type: StoredObject.Type, _ body: (Store) throws -> Void) throws {
    let store = Store(backend: try MemoryBackend(disk: disk))
    try store.register(Track.self, type)
    store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
    try body(store)
    try store.backend.close()
  }

  /// Deletes a track and a note in one step, as an earlier run.
  private func delete(_ note: StoredObject) throws {
    try run(type(of: note)) { store in
      store.insert(Track("a"))
      store.insert(note)
      try store.saveChanges()
      store.undoManager?.group("Delete") {
        for object in [Track.self, type(of: note)] as [StoredObject.Type] {
          if let object = try? store.object(object, rowID: 2) { store.delete(object) }
        }
      }
      try store.saveChanges()
    }
  }

  /// Takes the layouts away, as releases have left a store that kept none.
  private func removeLayouts() throws {
    let backend = try MemoryBackend(disk: disk)
    try backend.commit { $0.set("Note..layouts", nil) }
    backend.close()
  }

  /// Expects that the step can't be taken back, and that nothing has changed then.
  private func expectRefusal(_ code: StoreError.Code, _ store: Store) throws {
    let error = #expect(throws: StoreError.self) { try store.undoManager?.undo() }
    #expect(error?.code == code && error?.location.className == "Note")
    #expect(try store.count(of: Track.self) == 0 && !store.hasUnsavedChanges)
    #expect(store.undoManager?.undoActionName == "Delete")
  }

  @Test(
    "An object deleted by an earlier version of a class is restored as one of the later version")
  func later() throws {
    let note = Note()
    note.text = "x"
    try delete(note)
    try run(LaterNote.self) { store in
      try store.undoManager?.undo()
      let note = try #require(try store.object(LaterNote.self, rowID: 2))
      #expect(note.text == "x" && note.color == 7)
      try store.saveChanges()
    }
  }

  @Test("Content of a newer class is refused, and no part of the step is undone")
  func newer() throws {
    try delete(LaterNote())
    try run(Note.self) { try expectRefusal(.newerVersion, $0) }
  }

  @Test("So is content that the class does not read exactly to its end")
  func unread() throws {
    try delete(CarelessNote())
    try removeLayouts()
    try run(Note.self) { try expectRefusal(.damaged, $0) }
  }

  @Test("So is content that ends too early")
  func short() throws {
    try delete(Note())
    try removeLayouts()
    try run(CarelessNote.self) { try expectRefusal(.damaged, $0) }
  }
}

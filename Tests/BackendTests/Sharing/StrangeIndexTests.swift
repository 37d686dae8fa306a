import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A note, as the first program knows it.
private class Note: StoredObject {
  @Content var text = ""

  override class var storedName: String { "Note" }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
}

/// The same, as a later program knows it.
private final class IndexedNote: Note {
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("text", \IndexedNote.text, isUnique: true)]
  }
}

/// Programs that are open at once, and know a class with different indexes.
@Suite("Indexes that another program maintains")
struct StrangeIndexTests {
  private enum Arrangement: CaseIterable {
    /// Two stores on one backend.
    case oneBackend
    /// Two backends that share the directory.
    case twoBackends
  }

  private func withStores(
    _ kind: TestedBackend, _ arrangement: Arrangement,
    _ body: (_ earlier: Store, _ later: Store) throws -> Void
  ) throws {
    try withTemporaryDirectory(in: .memory) { parent in
      let first = try kind.openSmall(parent + "/store", sharing: .processes)
      let second =
        arrangement == .oneBackend
        ? first : try kind.openSmall(parent + "/store", sharing: .processes)
      defer { for backend in [first, second] { try? backend.close() } }
      try body(Store(backend: first), Store(backend: second))
    }
  }

  private func note(_ text: String, in store: Store) -> Note {
    let note = Note()
    note.text = text
    store.insert(note)
    return note
  }

  private func found(_ text: String, in store: Store) throws -> [UInt32] {
    store.mergeChanges()
    return try store.fetch(IndexedNote.self, where: #Predicate { $0.text == text }).map(\.rowID)
  }

  @Test(
    "An index that a program builds while another has the store open finds later saves of both",
    arguments: TestedBackend.onDisk, Arrangement.allCases)
  private func newIndex(_ kind: TestedBackend, _ arrangement: Arrangement) throws {
    try withStores(kind, arrangement) { earlier, later in
      try earlier.register(Note.self)
      let changed = note("a", in: earlier)
      try earlier.saveChanges()
      // It has looked for indexes once, before there was one.
      let kept = note("b", in: earlier)
      try earlier.saveChanges()
      try later.register(IndexedNote.self)
      #expect(try found("a", in: later) == [changed.rowID])
      for round in 0..<3 {
        changed.text = "round \(round)"
        try earlier.saveChanges()
        #expect(try found("round \(round)", in: later) == [changed.rowID])
        #expect(try found("round \(round - 1)", in: later) == [])
        #expect(try found("b", in: later) == [kept.rowID])
        let plan = try later.explain(IndexedNote.self, where: #Predicate { $0.text == "b" })
        #expect(plan.indexes == ["text"])
      }
      #expect(try later.check().findings == [])
    }
  }

  @Test("A value that an earlier program has saved is not unique")
  func unique() throws {
    try withStores(.tokyoCabinet, .twoBackends) { earlier, later in
      try earlier.register(Note.self)
      let changed = note("a", in: earlier)
      try earlier.saveChanges()
      try later.register(IndexedNote.self)
      try later.buildIndexes()
      changed.text = "b"
      try earlier.saveChanges()
      let clash = IndexedNote()
      clash.text = "b"
      later.insert(clash)
      let error = #expect(throws: StoreError.self) { try later.saveChanges() }
      #expect(error?.code == .notUnique)
      clash.text = "a"
      try later.saveChanges()
    }
  }
}

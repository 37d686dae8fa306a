import Foundation
import StoredObjectsCore
import StoredObjectsDocuments
import TestedBackends
import Testing

@Suite("Documents")
struct EditingTests {
  @Test("What is saved is there when the document is opened again", arguments: TestedBackend.onDisk)
  func saving(_ kind: TestedBackend) async throws {
    try await Desk.with(kind) { desk in
      let document = try desk.make("Ship.sketch")
      #expect(document.title == "Ship" && !document.isUntitled && !document.isEdited)
      document.insert(["hull"])
      #expect(document.isEdited)
      try document.save()
      #expect(!document.isEdited)
      try await document.close()
      #expect(try desk.shapes("Ship.sketch") == ["hull"])
      #expect(try desk.names() == ["Ship.sketch"])
    }
  }

  @Test("An object can have the name of a file of the document as its class")
  func names() async throws {
    try await Desk.with(.cdb) { desk in
      let document = try desk.make("Ship.sketch", ["hull"])
      document.store.insert(Preview())
      try document.save()
      await document.finishPreviews()
      try await document.close()
      let again = try desk.open("Ship.sketch")
      #expect(try again.store.count(of: Preview.self) == 1)
      try await again.close()
    }
  }

  @Test("Names can have any characters", arguments: ["a\nb", "Ħøüßé 音 🎵", " ", "-rf", "%s'\"$(x)"])
  func strangeNames(_ name: String) async throws {
    try await Desk.with { desk in
      let document = try desk.make("\(name).sketch", ["hull"])
      #expect(document.title == name)
      try await document.save(as: desk.path("\(name)2.sketch"))
      try await document.export(to: desk.path("\(name).zip"))
      try await document.close()
      #expect(try desk.shapes("\(name)2.sketch") == ["hull"])
    }
  }

  @Test("An untitled document has no name until it is saved under one")
  func untitled() async throws {
    try await Desk.with { desk in
      let document = try StoredDocument(untitled: desk.type)
      #expect(document.isUntitled && document.title == "Untitled" && !document.isEdited)
      let shape = Shape("hull")
      document.store.insert(shape)
      #expect(code { try document.save() } == .untitled)
      let store = document.store
      try await document.save(as: desk.path("Ship.sketch"))
      #expect(!document.isUntitled && document.title == "Ship" && !document.isEdited)
      // The store, the objects and the undo history are the same.
      #expect(document.store === store && shape.store === store)
      shape.name = "keel"
      try document.save()
      #expect(document.undoManager?.canUndo == true)
      try await document.close()
      #expect(try desk.shapes("Ship.sketch") == ["keel"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: desk.drafts) == [])
    }
  }

  @Test("An untitled document that is closed without being saved leaves nothing")
  func discardedDraft() async throws {
    try await Desk.with { desk in
      let document = try StoredDocument(untitled: desk.type)
      document.insert(["hull"])
      try document.autosave()
      #expect(await asyncCode { try await document.close() } == .unsavedChanges)
      #expect(await asyncCode { try await document.close(.saving) } == .untitled)
      try await document.close(.discarding)
      #expect(try FileManager.default.contentsOfDirectory(atPath: desk.drafts) == [])
    }
  }

  @Test("Closing treats unsaved changes as requested")
  func closing() async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["hull"]).close()
      for (closing, expected) in [
        (DocumentClosing.discarding, ["hull"]), (.saving, ["hull", "mast"]),
        (.keepingChanges, ["hull", "mast", "mast"]),
      ] {
        let document = try desk.open("Ship.sketch")
        document.insert(["mast"])
        #expect(await asyncCode { try await document.close() } == .unsavedChanges)
        try await document.close(closing)
        #expect(document.isClosed)
        #expect(try desk.shapes("Ship.sketch") == expected)
        #expect(code { try document.save() } == .closed)
        try await document.close()
      }
      let document = try desk.open("Ship.sketch")
      #expect(document.isEdited)
      try document.revert()
      #expect(try document.shapes() == ["hull", "mast"])
      #expect(!document.isEdited)
      try await document.close()
    }
  }

  @Test("Events report edits, saves and moves, once each")
  func events() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch")
      var events: [String] = []
      document.onEvent = { events.append("\($0)") }
      document.insert(["hull", "mast"])
      try document.autosave()
      try document.save()
      try document.move(to: desk.path("Boat.sketch"))
      #expect(
        events == [
          "edited(true)", "autosaved", "edited(false)",
          "moved(to: \"\(desk.path("Boat.sketch"))\")",
        ])
      try await document.close()
    }
  }

  @Test("The delegate of the application gets every call")
  func delegate() async throws {
    try await Desk.with { desk in
      final class Counter: StoreDelegate {
        var calls: [String] = []
        func store(_ store: Store, willInsert object: StoredObject) { calls.append("insert") }
        func store(_ store: Store, willUpdate object: StoredObject) { calls.append("update") }
        func store(_ store: Store, willDelete object: StoredObject) { calls.append("delete") }
        func storeDidSave(_ store: Store) { calls.append("save") }
      }
      let document = try desk.make("Ship.sketch")
      let counter = Counter()
      document.storeDelegate = counter
      let shape = Shape("hull")
      document.store.insert(shape)
      try document.save()
      shape.name = "keel"
      document.store.delete(shape)
      #expect(counter.calls == ["insert", "save", "update", "delete"])
      try await document.close(.discarding)
    }
  }

  @Test("Autosave saves some time after a change, and makes no version")
  func autosave() async throws {
    try await Desk.with { @MainActor desk in
      let document = try desk.make("Ship.sketch")
      let count = document.versions.count
      let saving = Task { await document.autosave(after: .milliseconds(20)) }
      document.insert(["hull"])
      while document.store.hasUnsavedChanges { try await Task.sleep(for: .milliseconds(5)) }
      #expect(document.isEdited && document.versions.count == count)
      #expect(try desk.shapes("Ship.sketch") == ["hull"])
      document.insert(["mast"])
      while document.store.hasUnsavedChanges { try await Task.sleep(for: .milliseconds(5)) }
      try await document.close(.keepingChanges)
      // The loop ends with the document.
      await saving.value
    }
  }

  @Test("Undo works across saves")
  func undo() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch")
      document.undoManager?.group("Draw") { document.insert(["hull"]) }
      try document.save()
      try document.undoManager?.undo()
      #expect(document.isEdited)
      try document.save()
      try await document.close()
      #expect(try desk.shapes("Ship.sketch") == [])
    }
  }

  @Test("A plain store becomes a document, and stays as it is")
  func importingStore() async throws {
    for kind in TestedBackend.onDisk {
      try await Desk.with(kind) { desk in
        let store = Store(backend: try kind.open(desk.path("Old")))
        try store.register(Shape.self)
        store.insert(Shape("hull"))
        try store.saveChanges()
        try store.backend.close()
        #expect(code { try desk.open("Old") } == .notADocument)
        let document = try StoredDocument(
          importingStore: desk.path("Old"), as: desk.type, key: desk.key)
        #expect(document.isUntitled)
        #expect(try document.shapes() == ["hull"])
        try await document.save(as: desk.path("New.sketch"))
        try await document.close()
        #expect(try kind.check(desk.path("Old")).isSound)
      }
    }
  }
}

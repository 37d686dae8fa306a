import Foundation
import StoredObjectsCore
import StoredObjectsDocuments
import TestedBackends
import Testing

@Suite("Versions of documents")
struct VersionTests {
  @Test("Each save is a version to look at and to go back to", arguments: TestedBackend.onDisk)
  func versions(_ kind: TestedBackend) async throws {
    try await Desk.with(kind) { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      let shape = try #require(try document.shape("a"))
      document.insert(["b"])
      try document.save(named: "Second")
      shape.name = "A"
      try document.autosave()
      try document.save()
      #expect(document.versions.map(\.name) == [nil, "Second", nil])
      for (version, shapes) in zip(document.versions, [["a"], ["a", "b"], ["A", "b"]]) {
        let store = try document.snapshot(of: version).makeStore()
        #expect(try store.allObjects(of: Shape.self).map(\.name).sorted() == shapes)
      }

      try document.revert(to: document.versions[0])
      #expect(document.isEdited && shape.name == "a")
      #expect(try document.shapes() == ["a"])
      try document.revert()
      #expect(!document.isEdited && shape.name == "A")
      #expect(try document.shapes() == ["A", "b"])
      try document.revert(to: document.versions[1])
      try document.save()
      try await document.close()

      let again = try desk.open("Ship.sketch")
      #expect(!again.isEdited)
      #expect(again.versions.count == 4)
      #expect(try again.shapes() == ["a", "b"])
      try again.revert(to: again.versions[2])
      #expect(try again.shapes() == ["A", "b"])
      try await again.close(.discarding)
      #expect(try desk.shapes("Ship.sketch") == ["a", "b"])
    }
  }

  @Test("Reverting takes back unsaved and autosaved changes, also of the background")
  func revert() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      document.insert(["b"])
      try document.autosave()
      try await document.container.write { $0.insert(Shape("c")) }
      document.store.mergeChanges()
      document.insert(["d"])
      #expect(try document.shapes() == ["a", "b", "c", "d"])
      try document.revert()
      #expect(!document.isEdited)
      #expect(try document.shapes() == ["a"])
      #expect(document.undoManager?.canUndo == false)
      // A save by the background alone is an edit, too.
      try await document.container.write { $0.insert(Shape("c")) }
      #expect(document.isEdited)
      try document.save()
      #expect(!document.isEdited)
      try await document.close()
    }
  }

  @Test("An autosave before a crash is an edit when the document is opened again")
  func crash() async throws {
    try await Desk.with { desk in
      do {
        // Released without being closed.
        let document = try desk.make("Ship.sketch", ["a"])
        document.insert(["b"])
        try document.autosave()
        document.insert(["c"])
        await document.finishPreviews()
      }
      let document = try desk.open("Ship.sketch")
      #expect(document.isEdited)
      #expect(try document.shapes() == ["a", "b"])
      try document.revert()
      #expect(try document.shapes() == ["a"])
      try await document.close()
    }
  }

  @Test("A commit that changes nothing of the application is no edit")
  func internalCommits() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["a", "b"])
      let number = document.store.backend.lastCommitNumber
      // As a program that registers its classes, and their layouts, again.
      var changes = ChangeSet()
      changes.set([1, 2, 3], named: "Other..layouts")
      try document.store.backend.commit(changes)
      try document.store.backend.noteHistorySeen(by: "test", through: number)
      #expect(document.store.backend.lastCommitNumber == number + 2)
      #expect(!document.isEdited)
      try await document.close()
    }
  }

  @Test("Old versions are removed on request, and by the rule of the type")
  func removing() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      for name in ["b", "c", "d"] {
        document.insert([name])
        try document.save()
      }
      let versions = document.versions
      try document.removeVersions(before: versions[2])
      #expect(document.versions == Array(versions[2...]))
      #expect(!document.isEdited)
      #expect(code { try document.revert(to: versions[1]) } == .noSuchVersion)
      try document.revert(to: versions[2])
      #expect(try document.shapes() == ["a", "b", "c"])
      try document.revert()
      #expect(try document.shapes() == ["a", "b", "c", "d"])
      try await document.close()

      var type = desk.type
      type.versionRetention = HistoryRetention(byteCount: 0)
      let short = try StoredDocument(opening: desk.path("Ship.sketch"), as: type)
      try await short.close()
      let again = try desk.open("Ship.sketch")
      #expect(again.versions == [] && !again.isEdited)
      #expect(try again.shapes() == ["a", "b", "c", "d"])
      try await again.close()
    }
  }

  @Test("Without versions, only unsaved changes can be taken back")
  func withoutVersions() async throws {
    try await Desk.with(versions: false) { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      #expect(document.versions == [])
      document.insert(["b"])
      try document.autosave()
      document.insert(["c"])
      #expect(document.isEdited)
      try document.revert()
      #expect(!document.isEdited)
      #expect(try document.shapes() == ["a", "b"])
      try await document.close()
    }
  }

  @Test(
    "A damaged list of versions loses only the list",
    arguments: ["", "{", "[]", "{\"saved\":99999999,\"versions\":[]}", "{\"saved\":-1}"])
  func damagedList(_ text: String) async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["a"]).close()
      try write(text, to: desk.path("Ship.sketch/Versions.json"))
      let document = try desk.open("Ship.sketch")
      #expect(document.versions == [] && !document.isEdited)
      document.insert(["b"])
      try document.save()
      #expect(document.versions.count == 1)
      try await document.close()
      #expect(try desk.shapes("Ship.sketch") == ["a", "b"])
    }
  }
}

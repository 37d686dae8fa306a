import Foundation
import StoredObjectsCore
import StoredObjectsDocuments
import TestedBackends
import Testing

@Suite("Damaged documents, and folders that are none")
struct DamageTests {
  @Test(
    "A damaged Document.json is a clear error, and nothing is lost",
    arguments: [
      ("", DocumentError.Code.damaged), ("{", .damaged), ("[]", .damaged), ("{}", .damaged),
      ("null", .damaged), ("\u{FEFF}{", .damaged),
      (
        "{\"format\":\"other\",\"layoutVersion\":1,\"type\":\"x\",\"formatVersion\":1}",
        .notADocument
      ),
      (
        "{\"format\":\"StoredObjects document\",\"layoutVersion\":1,\"type\":\"x\",\"formatVersion\":1}",
        .otherType
      ),
      (
        """
        {"format":"StoredObjects document","layoutVersion":2,"type":"org.example.Sketch",\
        "formatVersion":1}
        """, .newerVersion
      ),
      (
        """
        {"format":"StoredObjects document","layoutVersion":1,"type":"org.example.Sketch",\
        "formatVersion":7}
        """, .newerVersion
      ),
      (
        """
        {"format":"StoredObjects document","layoutVersion":99999999999999999999,"type":"",\
        "formatVersion":1}
        """, .damaged
      ),
    ])
  func manifest(_ text: String, _ expected: DocumentError.Code) async throws {
    try await expect(expected, forManifest: text)
  }

  @Test("So is one that is too deep, or too large", arguments: [("[", 60_000), (" ", 70_000)])
  func largeManifest(_ character: String, _ count: Int) async throws {
    try await expect(.damaged, forManifest: String(repeating: character, count: count))
  }

  private func expect(
    _ expected: DocumentError.Code, forManifest text: String
  ) async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["a"]).close()
      let path = desk.path("Ship.sketch/Document.json")
      let good = try bytes(path)
      try write(text, to: path)
      for access in [DocumentAccess.editing, .reading, .editingIfPossible] {
        #expect(code { try desk.open("Ship.sketch", access) } == expected)
      }
      try Data(good).write(to: URL(filePath: path))
      #expect(try desk.shapes("Ship.sketch") == ["a"])
    }
  }

  @Test("Missing and foreign things are named")
  func missing() async throws {
    try await Desk.with { desk in
      #expect(code { try desk.open("Nothing.sketch") } == .missing)
      try write("text", to: desk.path("file.sketch"))
      #expect(code { try desk.open("file.sketch") } == .notADocument)
      #expect(code { try desk.open("file.sketch/x") } == .missing)
      try FileManager.default.createDirectory(
        atPath: desk.path("Folder.sketch"), withIntermediateDirectories: false)
      #expect(code { try desk.open("Folder.sketch") } == .notADocument)
      #expect(try desk.names() == ["Folder.sketch", "file.sketch"])
      #expect(
        code { try StoredDocument(creating: desk.path("file.sketch"), as: desk.type) } == .exists)
    }
  }

  @Test("A missing store, or a link in its place, is damage and not an empty document")
  func store() async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["a"]).close()
      try await desk.make("Other.sketch", ["b"]).close()
      let store = desk.path("Ship.sketch/Store")
      try FileManager.default.moveItem(atPath: store, toPath: desk.path("saved"))
      #expect(code { try desk.open("Ship.sketch") } == .damaged)
      #expect(!isThere(store))
      try FileManager.default.createSymbolicLink(
        atPath: store, withDestinationPath: desk.path("Other.sketch/Store"))
      #expect(code { try desk.open("Ship.sketch") } == .damaged)
      try FileManager.default.removeItem(atPath: store)
      try FileManager.default.moveItem(atPath: desk.path("saved"), toPath: store)
      #expect(try desk.shapes("Ship.sketch") == ["a"])
    }
  }

  @Test("A damaged store is the error of the store")
  func damagedStore() async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["a"]).close()
      try write("nonsense", to: desk.path("Ship.sketch/Store/Commit.log"))
      do {
        _ = try desk.open("Ship.sketch")
        Issue.record("opened")
      } catch let error as DocumentError {
        #expect(error.code == .store)
        #expect((error.underlying as? StoreError)?.code == .damaged)
      }
      // The lock was released.
      #expect(code { try desk.open("Ship.sketch") } == .store)
    }
  }

  @Test("An encrypted document needs its key")
  func keys() async throws {
    try await Desk.with(.encryptedCDB) { desk in
      try await desk.make("Ship.sketch", ["a"]).close()
      do {
        _ = try StoredDocument(opening: desk.path("Ship.sketch"), as: desk.type)
        Issue.record("opened")
      } catch let error as DocumentError {
        #expect((error.underlying as? StoreError)?.code == .encrypted)
      }
      let document = try desk.open("Ship.sketch")
      try await document.save(as: desk.path("Boat.sketch"))
      document.insert(["b"])
      try document.save()
      try await document.close()
      #expect(try desk.shapes("Boat.sketch") == ["a", "b"])
      #expect(try desk.shapes("Ship.sketch") == ["a"])
    }
  }

  @Test("Newer programs note that they have edited a document; older ones refuse it then")
  func formatVersions() async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["a"]).close()
      var type = desk.type
      type.formatVersion = 2
      type.programVersion = "2.0"
      let reader = try StoredDocument(opening: desk.path("Ship.sketch"), as: type, access: .reading)
      try await reader.close()
      #expect(try desk.shapes("Ship.sketch") == ["a"])
      try await StoredDocument(opening: desk.path("Ship.sketch"), as: type).close()
      #expect(code { try desk.open("Ship.sketch") } == .newerVersion)
    }
  }
}

@Suite("Drafts of documents")
struct DraftTests {
  @Test("Untitled documents of a crashed program are found again, with what was autosaved")
  func recovery() async throws {
    try await Desk.with { desk in
      let start = Date()
      await #expect(processExitsWith: .signal(SIGKILL)) { [folder = desk.folder as String] in
        let document = try StoredDocument(untitled: Desk(folder).type)
        document.insert(["hull"])
        try document.autosave()
        document.insert(["mast"])
        kill(getpid(), SIGKILL)
      }
      let open = try StoredDocument(untitled: desk.type)
      let drafts = try StoredDocument.drafts(of: desk.type)
      #expect(drafts.count == 1)
      // A file's time comes from a clock of ticks, up to 10 ms behind.
      #expect(drafts[0].modified > start - 1 && drafts[0].modified < Date() + 1)
      let document = try StoredDocument(opening: drafts[0].path, as: desk.type)
      #expect(document.isUntitled && document.isEdited)
      #expect(try document.shapes() == ["hull"])
      let others = try StoredDocument.drafts(of: desk.type)
      #expect(others == [])
      try await document.save(as: desk.path("Ship.sketch"))
      try await document.close()
      try await open.close(.keepingChanges)
      let kept = try StoredDocument.drafts(of: desk.type)
      #expect(kept.count == 1)
      #expect(try desk.shapes("Ship.sketch") == ["hull"])
    }
  }

  @Test("A program that was never started has no drafts")
  func none() async throws {
    try await Desk.with { desk in
      let drafts = try StoredDocument.drafts(of: desk.type)
      #expect(drafts == [])
    }
  }
}

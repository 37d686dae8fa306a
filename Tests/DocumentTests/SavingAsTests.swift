import Files
import Foundation
import StoredObjectsCore
import StoredObjectsDocuments
import TestFiles
import TestedBackends
import Testing

@Suite("Saving documents under another name")
struct SavingAsTests {
  @Test(
    "The document continues under its new name, and the original stays as it was saved",
    arguments: TestedBackend.onDisk, [true, false])
  func saveAs(_ kind: TestedBackend, _ versions: Bool) async throws {
    try await Desk.with(kind, versions: versions) { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      let (store, shape) = (document.store, try #require(try document.shape("a")))
      if versions {
        document.insert(["b"])
        try document.autosave()
      }
      shape.name = "A"
      try await document.save(as: desk.path("Boat.sketch"))
      #expect(document.path == desk.path("Boat.sketch") && !document.isEdited)
      #expect(document.store === store && shape.store === store)
      #expect(try desk.shapes("Ship.sketch") == ["a"])
      #expect(try desk.shapes("Boat.sketch") == (versions ? ["A", "b"] : ["A"]))

      // Both can be edited from now on, each for itself.
      let original = try desk.open("Ship.sketch")
      #expect(!original.isEdited)
      original.insert(["c"])
      try original.save()
      shape.name = "AA"
      try document.save()
      #expect(try document.store.backend.inspect().findings == [])
      #expect(document.store.backend.location == desk.path("Boat.sketch/Store"))
      try await original.close()
      try await document.close()
      #expect(try desk.shapes("Ship.sketch") == ["a", "c"])
      #expect(try desk.shapes("Boat.sketch") == (versions ? ["AA", "b"] : ["AA"]))
      #expect(try desk.names() == ["Boat.sketch", "Ship.sketch"])
      for name in try desk.names() {
        #expect(try kind.check(desk.path(name) + "/Store").isSound)
        #expect(!isThere(desk.path(name) + "/.partial"))
        #expect(!isThere(desk.path(name) + "/Editor.json"))
      }
    }
  }

  @Test("Another document is replaced only on request, and not while it is edited")
  func replacing() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      let other = try desk.make("Boat.sketch", ["b"])
      for replacing in [false, true] {
        let expected: DocumentError.Code = replacing ? .inUse : .exists
        document.insert(["c"])
        #expect(
          await asyncCode {
            try await document.save(as: desk.path("Boat.sketch"), replacing: replacing)
          } == expected)
        #expect(
          await asyncCode {
            try await document.saveCopy(to: desk.path("Boat.sketch"), replacing: replacing)
          } == expected)
        #expect(document.path == desk.path("Ship.sketch") && document.isEdited)
        try document.revert()
      }
      try await other.close()
      #expect(try desk.shapes("Boat.sketch") == ["b"])
      try await document.save(as: desk.path("Boat.sketch"), replacing: true)
      #expect(try desk.shapes("Boat.sketch") == ["a"] && desk.shapes("Ship.sketch") == ["a"])
      #expect(try desk.names() == ["Boat.sketch", "Ship.sketch"])

      let draft = try StoredDocument(untitled: desk.type)
      draft.insert(["d"])
      try await draft.save(as: desk.path("Ship.sketch"), replacing: true)
      try await draft.close()
      #expect(try desk.shapes("Ship.sketch") == ["d"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: desk.drafts) == [])
      try await document.close()
    }
  }

  @Test("Files and folders that are not documents are never replaced")
  func otherThings() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      try write("text", to: desk.path("file"))
      try FileManager.default.createDirectory(
        atPath: desk.path("Holiday/photos"), withIntermediateDirectories: true)
      for target in ["file", "Holiday"] {
        for replacing in [false, true] {
          #expect(
            await asyncCode {
              try await document.save(as: desk.path(target), replacing: replacing)
            } == .exists)
        }
      }
      for target in ["nowhere/Boat.sketch", "", "/", "..", "Ship.sketch/.."] {
        #expect(
          await asyncCode { try await document.save(as: desk.path(target)) } != nil, "\(target)")
      }
      #expect(try desk.names() == ["Holiday", "Ship.sketch", "file"])
      // An empty folder is no loss, and its own name is an ordinary save.
      try FileManager.default.removeItem(atPath: desk.path("Holiday/photos"))
      document.insert(["b"])
      try await document.save(as: desk.path("Ship.sketch"))
      try await document.save(as: desk.path("Holiday"))
      try await document.close()
      #expect(try desk.shapes("Holiday") == ["a", "b"])
    }
  }

  @Test(
    "On another file system a copy continues, with a new store",
    arguments: TestedBackend.onDisk)
  func otherDevice(_ kind: TestedBackend) async throws {
    try await withTemporaryDirectory(in: .disk) { disk in
      try await Desk.with(kind) { desk in
        guard try desk.isElsewhere(disk) else { return }
        let document = try desk.make("Ship.sketch", ["a"])
        try await check(document, desk, realPath(disk) + "/Boat.sketch")
        let draft = try StoredDocument(untitled: desk.type, key: desk.key)
        draft.insert(["d"])
        try await draft.save(as: realPath(disk) + "/Draft.sketch")
        #expect(!draft.isUntitled && !draft.isEdited)
        #expect(try draft.shapes() == ["d"])
        try await draft.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: desk.drafts) == [])
      }
    }
  }

  @Test("So it is on a file system that can't exchange names, or moves nothing")
  func limitedFileSystem() async throws {
    for (failing, number) in [(FileCall.exchange, EINVAL), (.exchange, EXDEV)] {
      try await withTemporaryDirectory { folder in
        let files = TestedFileSystem { call, _ in call == failing ? number : nil }
        let desk = Desk(try realPath(folder), in: files)
        try await check(desk.make("Ship.sketch", ["a"]), desk, desk.path("Boat.sketch"))
      }
    }
  }

  private func check(
    _ document: StoredDocument, _ desk: Desk, _ path: String,
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    var events: [String] = []
    document.onEvent = { events.append("\($0)") }
    let store = document.store
    document.insert(["b"])
    try await document.save(as: path)
    #expect(document.path == path && !document.isEdited)
    #expect(document.store !== store && events.contains("storeReplaced"))
    #expect(try document.shapes() == ["a", "b"])
    document.insert(["c"])
    try document.save()
    #expect(try desk.shapes("Ship.sketch") == ["a"])
    let original = try desk.open("Ship.sketch")
    #expect(!original.isEdited)
    try await original.close()
    try await document.close()
    #expect(try desk.leftovers() == [])
    #expect(try desk.leftovers(in: directoryName(path)) == [])
  }

  @Test("Without versions, unsaved changes don't go to another file system behind the user's back")
  func otherDeviceWithoutVersions() async throws {
    try await withTemporaryDirectory(in: .disk) { disk in
      try await Desk.with(versions: false) { desk in
        guard try desk.isElsewhere(disk) else { return }
        let document = try desk.make("Ship.sketch", ["a"])
        document.insert(["b"])
        let path = try realPath(disk) + "/Boat.sketch"
        #expect(await asyncCode { try await document.save(as: path) } == .unsavedChanges)
        #expect(document.store.hasUnsavedChanges && !isThere(path))
        try document.save()
        try await document.save(as: path)
        #expect(try document.shapes() == ["a", "b"])
        try await document.close()
      }
    }
  }

  @Test("A document that is open for reading can be edited under another name")
  func reader() async throws {
    for kind in TestedBackend.onDisk {
      try await Desk.with(kind) { desk in
        let editor = try desk.make("Ship.sketch", ["a"])
        let reader = try desk.open("Ship.sketch", .reading)
        try await reader.save(as: desk.path("Boat.sketch"))
        #expect(!reader.isReadOnly && reader.path == desk.path("Boat.sketch"))
        reader.insert(["b"])
        try reader.save()
        try await reader.close()
        try await editor.close()
        #expect(try desk.shapes("Ship.sketch") == ["a"])
        #expect(try desk.shapes("Boat.sketch") == ["a", "b"])
      }
    }
  }

  @Test("A copy and a duplicate have unsaved changes and versions, and are independent")
  func copies() async throws {
    for kind in TestedBackend.onDisk {
      try await Desk.with(kind) { desk in
        let document = try desk.make("Ship.sketch", ["a"])
        document.insert(["b"])
        try document.save()
        document.insert(["c"])
        try await document.saveCopy(to: desk.path("Copy.sketch"))
        let duplicate = try await document.duplicate()
        #expect(document.path == desk.path("Ship.sketch") && document.isEdited)
        #expect(duplicate.isUntitled && duplicate.versions == document.versions)
        #expect(try duplicate.shapes() == ["a", "b", "c"])
        try duplicate.revert(to: duplicate.versions[0])
        #expect(try duplicate.shapes() == ["a"])
        try await duplicate.close(.discarding)
        try document.revert()
        try await document.close()
        #expect(try desk.shapes("Copy.sketch") == ["a", "b", "c"])
        #expect(try desk.shapes("Ship.sketch") == ["a", "b"])
      }
    }
  }

  @Test("A copy can be cancelled, and leaves nothing")
  func cancelled() async throws {
    try await Desk.with { @MainActor desk in
      let document = try desk.make("Ship.sketch", ["a"])
      let copying = Task { @MainActor in
        await asyncCode {
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          try await document.saveCopy(to: desk.path("Copy.sketch"))
        }
      }
      #expect(await copying.value == .cancelled)
      #expect(try desk.names() == ["Ship.sketch"])
      try await document.close()
    }
  }

  @Test("A document can be renamed while it is open")
  func moving() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      try await desk.make("Boat.sketch", ["b"]).close()
      document.insert(["c"])
      #expect(code { try document.move(to: desk.path("Boat.sketch")) } == .exists)
      try document.move(to: desk.path("Ship.sketch"))
      try document.move(to: desk.path("Raft.sketch"))
      try document.move(to: desk.path("Boat.sketch"), replacing: true)
      try document.save()
      try await document.close()
      #expect(try desk.names() == ["Boat.sketch"])
      #expect(try desk.shapes("Boat.sketch") == ["a", "c"])
    }
  }
}

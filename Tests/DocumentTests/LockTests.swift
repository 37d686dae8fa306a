import Foundation
import StoredObjectsCore
import StoredObjectsDocuments
import TestedBackends
import Testing

@Suite("Documents that several programs use")
struct LockTests {
  @Test(
    "A second editor gets an error that names the first, or reads", arguments: TestedBackend.onDisk)
  func secondEditor(_ kind: TestedBackend) async throws {
    try await Desk.with(kind) { desk in
      let document = try desk.make("Ship.sketch", ["hull"])
      var refusal: DocumentError?
      do { _ = try desk.open("Ship.sketch") } catch let error as DocumentError { refusal = error }
      #expect(refusal?.code == .inUse)
      #expect(refusal?.editor?.processID == ProcessInfo.processInfo.processIdentifier)
      #expect(refusal?.editor?.host?.isEmpty == false)
      #expect(refusal?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)

      let reader = try desk.open("Ship.sketch", .editingIfPossible)
      #expect(reader.isReadOnly && reader.editor?.processID == refusal?.editor?.processID)
      #expect(try reader.shapes() == ["hull"])
      #expect(code { try reader.save() } == .readOnly)
      #expect(code { try reader.revert() } == .readOnly)

      var events: [String] = []
      reader.onEvent = { events.append("\($0)") }
      try reader.checkFiles()
      #expect(events == [])
      document.insert(["mast"])
      try document.save()
      try reader.checkFiles()
      try reader.checkFiles()
      #expect(events == ["changedElsewhere"])
      #expect(try reader.shapes() == ["hull"])
      try await reader.reload()
      #expect(try reader.shapes() == ["hull", "mast"])
      #expect(await asyncCode { try await reader.beginEditing() } == .inUse)
      #expect(try reader.shapes() == ["hull", "mast"])

      try await document.close()
      try await reader.beginEditing()
      #expect(!reader.isReadOnly && reader.editor == nil)
      reader.insert(["sail"])
      try reader.save()
      try await reader.close()
      #expect(try desk.shapes("Ship.sketch") == ["hull", "mast", "sail"])
    }
  }

  @Test("The lock ends with the process, and the next editor sees all that was saved")
  func killed() async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["hull"]).close()
      await #expect(processExitsWith: .signal(SIGKILL)) { [folder = desk.folder as String] in
        let document = try Desk(folder).open("Ship.sketch")
        document.insert(["mast"])
        try document.autosave()
        document.insert(["sail"])
        kill(getpid(), SIGKILL)
      }
      #expect(isThere(desk.path("Ship.sketch/Editor.json")))
      let document = try desk.open("Ship.sketch")
      #expect(document.isEdited)
      #expect(try document.shapes() == ["hull", "mast"])
      try await document.close(.saving)
      #expect(!isThere(desk.path("Ship.sketch/Editor.json")))
    }
  }

  @Test("Another process that edits the document is named, and keeps this one out")
  func otherProcess() async throws {
    try await Desk.with { desk in
      try await desk.make("Ship.sketch", ["hull"]).close()
      let document = try desk.open("Ship.sketch")
      let editor = ProcessInfo.processInfo.processIdentifier
      await #expect(processExitsWith: .success) {
        [folder = desk.folder as String, editor = editor as Int32] in
        let desk = Desk(folder)
        do {
          _ = try desk.open("Ship.sketch")
          Issue.record("opened twice")
        } catch let error as DocumentError {
          #expect(error.code == .inUse && error.editor?.processID == editor)
        }
        let reader = try desk.open("Ship.sketch", .editingIfPossible)
        #expect(try reader.shapes() == ["hull"])
      }
      try await document.close()
    }
  }

  @Test("A document that is moved by others continues at its new path")
  func moved() async throws {
    for kind in TestedBackend.onDisk {
      try await Desk.with(kind) { desk in
        let document = try desk.make("Ship.sketch", ["hull"])
        var events: [String] = []
        document.onEvent = { events.append("\($0)") }
        try FileManager.default.createDirectory(
          atPath: desk.path("Trash"), withIntermediateDirectories: false)
        try FileManager.default.moveItem(
          atPath: desk.path("Ship.sketch"), toPath: desk.path("Trash/Boat.sketch"))
        document.insert(["mast"])
        try document.save()
        #expect(document.path == desk.path("Trash/Boat.sketch") && document.title == "Boat")
        #expect(events.contains { $0.hasPrefix("moved") })
        #expect(try document.store.backend.inspect().findings == [])
        #expect(document.store.backend.location == desk.path("Trash/Boat.sketch/Store"))
        try await document.close()
        #expect(try desk.shapes("Trash/Boat.sketch") == ["hull", "mast"])
      }
    }
  }

  @Test("A document whose place another one takes does not write to that one")
  func replaced() async throws {
    try await Desk.with { desk in
      try await desk.make("Other.sketch", ["other"]).close()
      let document = try desk.make("Ship.sketch", ["hull"])
      let (ship, boat) = (desk.path("Ship.sketch"), desk.path("Boat.sketch"))
      try FileManager.default.moveItem(atPath: ship, toPath: boat)
      try FileManager.default.moveItem(atPath: desk.path("Other.sketch"), toPath: ship)
      document.insert(["mast"])
      try document.save()
      #expect(document.path == boat)
      try await document.close()
      #expect(try desk.shapes("Ship.sketch") == ["other"])
      #expect(try desk.shapes("Boat.sketch") == ["hull", "mast"])
    }
  }

  @Test("A document that was removed by others can't be saved, and says so")
  func removed() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["hull"])
      var events: [String] = []
      document.onEvent = { events.append("\($0)") }
      await document.finishPreviews()
      try FileManager.default.removeItem(atPath: desk.path("Ship.sketch"))
      document.insert(["mast"])
      #expect(code { try document.save() } == .missing)
      #expect(events.last == "removed")
      #expect(try document.shapes() == ["hull", "mast"])
      #expect(await asyncCode { try await document.close(.discarding) } == .missing)
    }
  }
}

import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsDocuments
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A file system on which one call fails, or every call from one on, as after a kill.
private final class Fault: Sendable {
  private let state = Locked((count: 0, isOn: false, hasFailed: false))
  private let failing: Int
  private let number: Int32
  private let isKill: Bool

  /// The calls that change something.
  private static let changes: Set<FileCall> = [
    .create, .write, .truncate, .copyRange, .copy, .sync, .syncData, .rename, .exchange, .remove,
    .makeDirectory, .removeDirectory, .setMode,
  ]

  init(failing: Int, _ number: Int32, isKill: Bool) {
    (self.failing, self.number, self.isKill) = (failing, number, isKill)
  }

  var hasFailed: Bool { state.withLock { $0.hasFailed } }

  func begin() { state.withLock { $0.isOn = true } }
  func end() { state.withLock { $0.isOn = false } }

  var fileSystem: TestedFileSystem {
    TestedFileSystem { call, _ in
      self.state.withLock { state in
        guard state.isOn else { return nil }
        if self.isKill, state.hasFailed { return self.number }
        guard Self.changes.contains(call) else { return nil }
        state.count += 1
        guard state.count == self.failing else { return nil }
        state.hasFailed = true
        return self.number
      }
    }
  }
}

@Suite("Documents after faults and kills")
struct CrashTests {
  enum Operation: String, CaseIterable, Sendable {
    case save, saveAs, replace, saveDraft, copy, export, importing, creating
  }

  /// Runs an operation with the fault at each of its calls, and checks all documents after each.
  private func run(
    _ operation: Operation, _ kind: TestedBackend, _ number: Int32, isKill: Bool
  ) async throws {
    var generator = Seeds.generator(for: "\(operation) of documents, \(kind)")
    // All calls take minutes.
    let step =
      ProcessInfo.processInfo.environment["STOREDOBJECTS_DOCUMENT_FAULTS"] == "all" ? 1 : 23
    var failing = Int.random(in: 1...step, using: &generator)
    while true {
      let fault = Fault(failing: failing, number, isKill: isKill)
      try await withTemporaryDirectory(in: .memory) { [failing] folder in
        let folder = try realPath(folder)
        let (desk, plain) = (Desk(folder, kind, in: fault.fileSystem), Desk(folder, kind))
        try await prepare(operation, plain)
        let hasThrown = await perform(operation, desk, fault)
        // A failure in tidying up is no failure of the operation.
        if !fault.hasFailed { #expect(!hasThrown, "\(operation)") }
        try check(operation, plain, hasThrown, "\(operation) \(kind) \(failing) \(isKill)")
        // The next operation removes what is left.
        try await plain.make("Next.sketch", ["n"]).close()
        let context: Comment = "\(operation) \(failing) \(isKill)"
        #expect(try plain.leftovers() == [], context)
      }
      if !fault.hasFailed { break }
      failing += Int.random(in: 1..<2 * step, using: &generator)
    }
    #expect(failing > 5)
  }

  private func prepare(_ operation: Operation, _ desk: Desk) async throws {
    let document = try desk.make("Ship.sketch", ["a"])
    if operation == .replace { try await desk.make("Boat.sketch", ["old"]).close() }
    if operation == .importing { try await document.export(to: desk.path("Ship.zip")) }
    try await document.close()
  }

  /// Performs the operation; returns whether it has thrown.
  private func perform(_ operation: Operation, _ desk: Desk, _ fault: Fault) async -> Bool {
    let path = desk.path("Boat.sketch")
    do {
      switch operation {
      case .importing:
        fault.begin()
        try await StoredDocument.importArchive(desk.path("Ship.zip"), to: path, as: desk.type)
      case .creating:
        fault.begin()
        _ = try StoredDocument(creating: path, as: desk.type, key: desk.key)
      case .saveDraft:
        let document = try StoredDocument(untitled: desk.type, key: desk.key)
        document.insert(["b"])
        fault.begin()
        try await document.save(as: path)
      default:
        let document = try desk.open("Ship.sketch")
        document.insert(["b"])
        fault.begin()
        switch operation {
        case .save: try document.save()
        case .saveAs: try await document.save(as: path)
        case .replace: try await document.save(as: path, replacing: true)
        case .copy: try await document.saveCopy(to: path)
        default: try await document.export(to: desk.path("Ship.zip"))
        }
      }
      fault.end()
      return false
    } catch {
      fault.end()
      return true
    }
  }

  private func check(
    _ operation: Operation, _ desk: Desk, _ hasThrown: Bool, _ context: String
  ) throws {
    let context = Comment(rawValue: context)
    let ship = try desk.shapes("Ship.sketch")
    switch operation {
    case .importing, .creating, .saveDraft: #expect(ship == ["a"], context)
    // Until the copy is in its place, the open document has the changes of an autosave at most.
    default: #expect(ship == ["a"] || ship == ["a", "b"], context)
    }
    #expect(try desk.kind.check(desk.path("Ship.sketch/Store")).isSound, context)
    if operation == .saveDraft, hasThrown, !isThere(desk.path("Boat.sketch")) {
      let drafts = try StoredDocument.drafts(of: desk.type)
      #expect(drafts.count == 1, context)
    }
    if isThere(desk.path("Boat.sketch")) {
      let shapes = try desk.shapes("Boat.sketch")
      let expected: [[String]] =
        switch operation {
        case .importing: [["a"]]
        case .creating: [[]]
        case .saveDraft: [["b"]]
        // The name is there before the last step, which saves the changes.
        case .saveAs: hasThrown ? [["a"], ["a", "b"]] : [["a", "b"]]
        case .replace: hasThrown ? [["old"], ["a"], ["a", "b"]] : [["a", "b"]]
        default: [["a", "b"]]
        }
      #expect(expected.contains(shapes), context)
      #expect(try desk.kind.check(desk.path("Boat.sketch/Store")).isSound, context)
    } else {
      #expect(hasThrown || [.save, .export].contains(operation), context)
      #expect(operation != .replace, context)
    }
    if operation == .export, isThere(desk.path("Ship.zip")) {
      _ = try DocumentPreview(of: desk.path("Ship.zip"))
    }
  }

  @Test("A full disk changes nothing, wherever it is met", arguments: Operation.allCases)
  func fullDisk(_ operation: Operation) async throws {
    try await run(operation, .tokyoCabinet, ENOSPC, isKill: false)
  }

  @Test(
    "A kill at any call leaves whole documents only", arguments: Operation.allCases,
    [TestedBackend.tokyoCabinet, .encryptedCDB])
  func kills(_ operation: Operation, _ kind: TestedBackend) async throws {
    try await run(operation, kind, EIO, isKill: true)
  }

  @Test("Processes that are killed leave whole documents, and locks end with them")
  func processes() async throws {
    for (call, operation) in [
      ("renameat2", "saveAs"), ("copy_file_range", "copy"), ("pwrite", "export"),
      ("pwrite", "importing"),
    ] {
      try await Desk.with { desk in
        let document = try desk.make("Ship.sketch", ["a"])
        try await document.export(to: desk.path("Ship.zip"))
        try await document.close()
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [folder = desk.folder as String, call = call as String, operation = operation as String]
          in
          let isOn = SharedLock(false)
          let files = TestedFileSystem(witness: { made, _ in
            if isOn.withLock({ $0 }), made.rawValue == call { kill(getpid(), SIGKILL) }
          }) { _, _ in nil }
          let desk = Desk(folder, in: files)
          if operation == "importing" {
            isOn.withLock { $0 = true }
            return try await StoredDocument.importArchive(
              desk.path("Ship.zip"), to: desk.path("Boat.sketch"), as: desk.type)
          }
          let document = try desk.open("Ship.sketch")
          document.insert(["b"])
          if operation != "saveAs" { try document.save() }
          isOn.withLock { $0 = true }
          switch operation {
          case "saveAs": try await document.save(as: desk.path("Boat.sketch"))
          case "copy": try await document.saveCopy(to: desk.path("Boat.sketch"))
          default: try await document.export(to: desk.path("Boat.zip"))
          }
        }
        let editor = try desk.open("Ship.sketch")
        let hasSaved = !["saveAs", "importing"].contains(operation)
        #expect(try editor.shapes() == (hasSaved ? ["a", "b"] : ["a"]))
        try await editor.close()
        // The names were exchanged, but the changes were not saved yet.
        #expect(isThere(desk.path("Boat.sketch")) == (operation == "saveAs"))
        if operation == "saveAs" { #expect(try desk.shapes("Boat.sketch") == ["a"]) }
        #expect(!isThere(desk.path("Boat.zip")))
        try await desk.make("Next.sketch").close()
        #expect(try desk.leftovers() == [])
      }
    }
  }

  @Test(
    "A document is whole after a power cut, and there once an operation has returned",
    arguments: [TestedBackend.tokyoCabinet, .cdb])
  func powerCuts(_ kind: TestedBackend) async throws {
    let generator = SharedLock(Seeds.generator(for: "power cuts of documents, \(kind)"))
    for round in 0..<18 {
      let disk = try CrashingDirectory()
      let desk = Desk(disk.path, kind, in: disk)
      try await desk.make("Ship.sketch", ["a"]).close()
      let document = try desk.open("Ship.sketch")
      document.insert(["b"])
      // Half of the operations are cut off.
      let cut = generator.withLock { Int.random(in: 0..<400, using: &$0) }
      disk.plan(round < 9 ? .none : .cutPower(at: cut))
      let error = await asyncCode {
        switch round % 3 {
        case 0: try await document.save(as: desk.path("Boat.sketch"))
        case 1: try await document.saveCopy(to: desk.path("Boat.sketch"))
        default:
          _ = try StoredDocument(creating: desk.path("Boat.sketch"), as: desk.type, key: desk.key)
        }
      }
      await document.finishPreviews()
      let after = try generator.withLock { try disk.afterPowerCut(using: &$0) }
      let rest = Desk(after.path, kind)
      let context: Comment = "round \(round), cut \(cut)"
      let ship = try rest.shapes("Ship.sketch")
      #expect(ship == ["a"] || round % 3 == 1 && ship == ["a", "b"], context)
      #expect(try kind.check(rest.path("Ship.sketch/Store")).isSound, context)
      if isThere(rest.path("Boat.sketch")) {
        let shapes = try rest.shapes("Boat.sketch")
        let expected = round % 3 == 2 ? [] : ["a", "b"]
        #expect(shapes == expected || error != nil && shapes == ["a"], context)
        #expect(try kind.check(rest.path("Boat.sketch/Store")).isSound, context)
      } else {
        #expect(error != nil, context)
      }
      try? await document.close(.discarding)
    }
  }
}

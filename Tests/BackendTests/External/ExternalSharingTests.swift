import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite("Values outside of records: undo, and several stores")
struct ExternalSharingTests {
  private let first = noise(50_000)
  private let second = noise(60_000, seed: 2)

  @Test("Undoing a change or a deletion restores the value", arguments: TestedBackend.usual)
  func undo(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = try location.open()
      defer { try? backend.close() }
      let store = try Store.ofRecordings(backend)
      let recording = store.insertRecording("A", first)
      try store.saveChanges()
      let history = StoreUndoManager()
      store.undoManager = history
      history.group { recording.audio = ExternalData(second) }
      try store.saveChanges()
      #expect(try backend.valueCount == 2)
      history.group { store.delete(recording) }
      try store.saveChanges()
      #expect(try backend.valueCount == 2)

      try history.undo()
      try store.saveChanges()
      #expect(try store.recording("A")?.audio.bytes() == second)
      try history.undo()
      try store.saveChanges()
      #expect(try store.recording("A")?.audio.bytes() == first)
      #expect(try store.check().findings == [])
      try history.redo()
      try store.saveChanges()
      #expect(try store.recording("A")?.audio.bytes() == second)
      store.undoManager = nil
      store.collect()
      #expect(try backend.valueCount == 1)
      #expect(try store.check().findings == [])
    }
  }

  @Test("Undo restores values that were never saved, and does not depend on saves in between")
  func undoInMemory() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    let history = StoreUndoManager()
    store.undoManager = history
    let recording = Recording()
    history.group {
      recording.audio = ExternalData(first)
      store.insert(recording)
    }
    history.group { recording.audio = ExternalData(second) }
    history.group { recording.title = "B" }
    try store.saveChanges()
    history.group { recording.title = "C" }
    try history.undo()
    try history.undo()
    #expect(try recording.audio.bytes() == second)
    try history.undo()
    #expect(try recording.audio.bytes() == first)
    try store.saveChanges()
    do {
      let found = try Store.ofRecordings(backend).allObjects(of: Recording.self).first
      #expect(try found?.audio.bytes() == first)
    }
    try history.redo()
    try store.saveChanges()
    #expect(try recording.audio.bytes() == second)
    history.removeAllActions()
    store.collect()
    #expect(try backend.valueCount == 1)
  }

  @Test("A step of an earlier run whose value is missing is refused, and changes nothing")
  func savedHistory() throws {
    let disk = MemoryDisk()
    do {
      let backend = try MemoryBackend(disk: disk)
      let store = try Store.ofRecordings(backend)
      store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
      let recording = store.insertRecording("A", first)
      try store.saveChanges()
      recording.audio = ExternalData(second)
      try store.saveChanges()
      store.undoManager = nil
      store.collect()
      #expect(try backend.valueCount == 1)
      backend.close()
    }
    let backend = try MemoryBackend(disk: disk)
    let store = try Store.ofRecordings(backend)
    store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
    #expect(throws: StoreError.self) { try store.undoManager?.undo() }
    #expect(!store.hasUnsavedChanges)
    #expect(try store.recording("A")?.audio.bytes() == second)
  }

  @Test(
    "A store reads the value of its object after another store has replaced or deleted it",
    arguments: TestedBackend.usual)
  func otherStore(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = try location.open()
      defer { try? backend.close() }
      let writer = try Store.ofRecordings(backend)
      let recording = writer.insertRecording("A", first)
      try writer.saveChanges()
      let reader = try Store.ofRecordings(backend)
      let seen = try #require(try reader.recording("A"))
      var open = try seen.audio.reader()
      #expect(try open.next()?.count == 50_000)
      recording.audio = ExternalData(second)
      try writer.saveChanges()
      #expect(try backend.valueCount == 2)
      #expect(try seen.audio.bytes() == first)
      reader.mergeChanges()
      #expect(try seen.audio.bytes() == second)
      reader.collect()
      #expect(try backend.valueCount == 1)
      // An open value stays readable.
      #expect(try open.bytes(in: 0..<50_000) == first)

      writer.delete(recording)
      try writer.saveChanges()
      #expect(try seen.audio.bytes() == second)
    }
  }

  @Test("A reference to a missing value is an error, never an empty value")
  func gone() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    let recording = store.insertRecording("A", first)
    try store.saveChanges()
    for (id, _) in try #require(try backend.externalStorage?.list()) {
      try backend.externalStorage?.remove(id)
    }
    expectError(.recordMissing) { _ = try recording.audio.bytes() }
    #expect(try store.check().findings.map(\.kind) == [.externalValue])
    // A value that is not used is saved unchanged.
    recording.title = "B"
    try store.saveChanges()
    expectError(.recordMissing) { _ = try recording.audio.bytes() }
  }

  @Test("A store that merges conflicts keeps the value of one store and the title of another")
  func merge() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    let recording = store.insertRecording("A", first)
    try store.saveChanges()
    let other = Store(
      backend: backend, configuration: StoreConfiguration(conflictPolicy: .merge))
    try other.register(Recording.self)
    let same = try #require(try other.recording("A"))
    same.title = "B"
    recording.audio = ExternalData(second)
    try store.saveChanges()
    try other.saveChanges()
    store.mergeChanges()
    for one in [recording, same] {
      #expect(try one.title == "B" && one.audio.bytes() == second)
    }
    store.collect()
    #expect(try backend.valueCount == 1)
  }

  @Test("A conflicting save is refused, and does not change the value of the other store")
  func conflict() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    let recording = store.insertRecording("A", [])
    try store.saveChanges()
    let other = try Store.ofRecordings(backend)
    let same = try #require(try other.recording("A"))
    recording.audio = ExternalData(first)
    same.audio = ExternalData(second)
    try store.saveChanges()
    expectError(.conflict) { try other.saveChanges() }
    other.discardChanges()
    #expect(try same.audio.bytes() == first)
    #expect(try backend.valueCount == 1)
    same.audio = ExternalData(second)
    recording.title = "C"
    try store.saveChanges()
    expectError(.conflict) { try other.saveChanges() }
    other.keepConflictingChanges()
    try other.saveChanges()
    #expect(
      try Store.ofRecordings(backend).allObjects(of: Recording.self).first?.audio.bytes() == second)
    store.mergeChanges()
    #expect(try recording.audio.bytes() == second)
    store.collect()
    #expect(try backend.valueCount == 1)
  }

  @Test("Stores that save and delete concurrently lose no value and leave none over")
  func concurrency() async throws {
    let backend = try MemoryBackend()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          do {
            let store = try Store.ofRecordings(backend)
            for round in 0..<20 {
              let bytes = noise(20_000, seed: UInt64(task * 100 + round))
              let recording = store.insertRecording("\(task)", bytes)
              try store.saveChanges()
              #expect(try recording.audio.bytes() == bytes)
              if round % 4 > 0 {
                store.delete(recording)
                try store.saveChanges()
              }
            }
          } catch { Issue.record("\(error)") }
        }
      }
    }
    let store = try Store.ofRecordings(backend)
    #expect(try store.count(of: Recording.self) == 20)
    store.collect()
    #expect(try store.check().findings == [])
  }
}

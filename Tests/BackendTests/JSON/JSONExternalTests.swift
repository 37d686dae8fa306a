import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("JSON of values outside of records")
struct JSONExternalTests {
  private static let sizes = [0, 1, 16 << 10, 16 << 10 + 1, 300_000]

  /// Exports values of all sizes, and lets a closure import them elsewhere, twice.
  private func run(
    _ kind: TestedBackend,
    export: (Store, any StoreBackend, String) throws -> Void,
    importing: (any StoreBackend, String, JSONImportMode) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      try kind.withLocation { location in
        try kind.withLocation { other in
          let backend = try location.open()
          let store = try Store.ofRecordings(backend)
          for size in Self.sizes { store.insertRecording("\(size)", noise(size)) }
          try store.saveChanges()
          let path = directory + "/recordings.jsonl"
          try export(store, backend, path)
          let copy = try other.open()
          try importing(copy, path, .keepIDs)
          try check(copy)
          try importing(copy, path, .replace)
          try check(copy)
          try copy.close()
          let again = try other.open()
          try check(again)
          try again.close()
          try backend.close()
        }
      }
    }
  }

  private func check(_ backend: any StoreBackend) throws {
    #expect(try backend.valueCount == 2)
    let store = try Store.ofRecordings(backend)
    for size in Self.sizes {
      #expect(try store.recording("\(size)")?.audio.bytes() == noise(size))
    }
    #expect(try store.check().findings == [])
  }

  @Test(
    "A program exports them as Base64, and stores them outside again",
    arguments: TestedBackend.usual)
  func program(_ kind: TestedBackend) throws {
    try run(kind) { store, _, path in
      #expect(try store.exportJSON(to: path) == Self.sizes.count)
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(text.contains(Data(noise(300_000)).base64EncodedString()))
    } importing: { backend, path, mode in
      try Store.ofRecordings(backend).importJSON(from: path, mode: mode)
    }
  }

  @Test("The tool does the same, without the class", arguments: TestedBackend.usual)
  func withoutClasses(_ kind: TestedBackend) throws {
    try run(kind) { _, backend, path in
      let export = try RecordExport(backend)
      try withNewFile(path) { write in
        _ = try export.exportJSON(export.classes, progress: { _ in }, write: write)
      }
    } importing: { backend, path, mode in
      _ = try RecordTarget.importJSON(from: path, into: backend, mode: mode, batchSize: 2) { _ in }
    }
  }

  @Test("A value of an unsaved object is exported, and not stored")
  func unsaved() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    let recording = store.insertRecording("A", noise(100_000))
    #expect(try recording.value()["audio"] == .string(Data(noise(100_000)).base64EncodedString()))
    #expect(try backend.valueCount == 0)
    try store.saveChanges()
    #expect(try backend.valueCount == 1)
    #expect(try store.check().findings == [])
  }

  @Test("An import that fails leaves no value behind")
  func failure() throws {
    try withTemporaryDirectory { directory in
      let source = try Store.ofRecordings(MemoryBackend())
      source.insertRecording("A", noise(100_000))
      let path = directory + "/recordings.jsonl"
      try source.exportJSON(to: path)
      let backend = try MemoryBackend()
      let store = try Store.ofRecordings(backend)
      store.insertRecording("B", [])
      try store.saveChanges()
      #expect(throws: StoreError.self) {
        try RecordTarget.importJSON(from: path, into: backend, mode: .keepIDs) { _ in }
      }
      let failing = FailingBackend(backend)
      failing.failCommits()
      #expect(throws: StoreError.self) {
        try RecordTarget.importJSON(from: path, into: failing, mode: .replace) { _ in }
      }
      #expect(try backend.valueCount == 0)
      #expect(try store.recording("B") != nil)
    }
  }

  @Test(
    "Pieces of exports and imports are no larger than a buffer, whatever the size of the value",
    arguments: [TestedBackend.memory, .encryptedTokyoCabinet])
  func pieces(_ kind: TestedBackend) throws {
    let value = noise(5_000_000)
    try withTemporaryDirectory { directory in
      try kind.withLocation { location in
        let backend = try location.open()
        let store = try Store.ofRecordings(backend)
        store.insertRecording("A", value)
        try store.saveChanges()
        var texts: [[UInt8]] = []
        try store.exportJSON { piece in
          #expect(piece.count < 400_000)
          texts.append(piece)
        }
        #expect(texts.count > 10)
        var other: [UInt8] = []
        let export = try RecordExport(backend)
        _ = try export.exportJSON(export.classes, progress: { _ in }) { piece in
          #expect(piece.count < 400_000)
          other += piece
        }
        let whole = texts.flatMap { $0 }
        #expect(whole == other)
        let path = directory + "/recordings.jsonl"
        try Data(whole).write(to: URL(filePath: path))
        try backend.close()
        for isProgram in [true, false] {
          let copy = try MemoryBackend()
          if isProgram {
            try Store.ofRecordings(copy).importJSON(from: path)
          } else {
            _ = try RecordTarget.importJSON(from: path, into: copy, mode: .keepIDs) { _ in }
          }
          #expect(try copy.valueCount == 1)
          #expect(try Store.ofRecordings(copy).recording("A")?.audio.bytes() == value)
        }
      }
    }
  }

  /// A line of a recording with a text in the place of its value.
  private func importing(_ audio: String, title: String = "A", into store: Store) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/recordings.jsonl"
      let line = #"{"class":"Recording","values":{"audio":"\#(audio)","title":"\#(title)"}}"# + "\n"
      try Data(line.utf8).write(to: URL(filePath: path))
      try store.importJSON(from: path)
    }
  }

  @Test("Large texts that are not Base64 are refused and leave no value")
  func largeNonsense() throws {
    let sound = Data(noise(300_000)).base64EncodedString()
    for audio in [
      sound + "A", "A" + sound, sound + "====", sound + sound.prefix(70_000) + "=A==",
      "AA==" + sound, sound + "é", sound + "\\n", sound.prefix(131_072) + "=" + sound,
    ] {
      let backend = try MemoryBackend()
      let store = try Store.ofRecordings(backend)
      expectError(.invalidValue) { try importing(audio, into: store) }
      #expect(try backend.valueCount == 0 && store.count(of: Recording.self) == 0)
    }
  }

  @Test("Large texts of other properties are texts, and escaped slashes are valid Base64")
  func largeTexts() throws {
    let value = noise(300_000)
    let sound = Data(value).base64EncodedString()
    let escaped = sound.replacing("/", with: "\\/")
    #expect(escaped != sound)
    for (title, expected) in [
      (sound, sound), (escaped, sound), (sound + "\\n\\\"", sound + "\n\""),
      (sound + "é", sound + "é"),
    ] {
      let backend = try MemoryBackend()
      let store = try Store.ofRecordings(backend)
      try importing(escaped, title: title, into: store)
      let recording = try #require(try store.allObjects(of: Recording.self).first)
      #expect(recording.title == expected)
      #expect(try recording.audio.bytes() == value && backend.valueCount == 1)
    }
  }

  /// A class that declares no properties.
  private final class Opaque: StoredObject {
    @Content var audio = ExternalData()
    override func writeContent(to buffer: inout DataBuffer) { buffer.write(audio) }
    override func readContent(from buffer: inout DataBuffer) throws { audio = try buffer.read() }
  }

  @Test("Without properties only the program can export them")
  func opaque() throws {
    try withTemporaryDirectory { directory in
      let backend = try MemoryBackend()
      let store = Store(backend: backend)
      try store.register(Opaque.self)
      let object = Opaque()
      object.audio = ExternalData(noise(100_000))
      store.insert(object)
      try store.saveChanges()
      let export = try RecordExport(backend)
      expectError(.notEncodable) {
        _ = try export.exportJSON(export.classes, progress: { _ in }) { _ in }
      }
      let path = directory + "/opaque.jsonl"
      try store.exportJSON(to: path)
      let copy = Store(backend: try MemoryBackend())
      try copy.register(Opaque.self)
      try copy.importJSON(from: path)
      #expect(try copy.allObjects(of: Opaque.self).first?.audio.bytes() == noise(100_000))
      #expect(try copy.backend.valueCount == 1)
    }
  }
}

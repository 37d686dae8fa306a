import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A class with a value outside of records.
final class Recording: StoredObject {
  @Content var title = ""
  @Content var audio = ExternalData()

  override class var layout: ClassLayout? {
    ClassLayout(
      Recording.self,
      [StoredProperty("title", String.self), StoredProperty("audio", ExternalData.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(audio)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    audio = try buffer.read()
  }
}

/// The same class with the value in the record, as it was before.
final class PlainRecording: RecordingWithPlainAudio {}

/// The class after that, with the value in the record again.
final class LaterRecording: RecordingWithPlainAudio {
  override class var classVersion: UInt8 { 1 }
}

/// The class `Recording` of the store, with the value in the record.
class RecordingWithPlainAudio: StoredObject {
  @Content var title = ""
  @Content var audio = Data()

  override class var storedName: String { "Recording" }
  override class var layout: ClassLayout? {
    ClassLayout(
      self, [StoredProperty("title", String.self), StoredProperty("audio", Data.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(audio)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    audio = try buffer.read()
  }
}

extension Store {
  static func ofRecordings(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Recording.self)
    return store
  }

  @discardableResult
  func insertRecording(_ title: String, _ bytes: [UInt8]) -> Recording {
    let recording = Recording()
    (recording.title, recording.audio) = (title, ExternalData(bytes))
    insert(recording)
    return recording
  }

  func recording(_ title: String) throws -> Recording? {
    try allObjects(of: Recording.self).first { $0.title == title }
  }
}

extension StoreBackend {
  /// The number of values outside of records.
  var valueCount: Int { get throws { try externalStorage?.list().count ?? 0 } }
}

/// Bytes that repeat neither with the size of a chunk nor with that of a page.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  let block = (0..<1009).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state >> 24)
  }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + block.count)
  while bytes.count < count { bytes += block }
  return Array(bytes.prefix(count))
}

/// The files of values in a directory.
func valueFiles(_ directory: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: directory)
    .filter { $0.hasSuffix(".external") }.sorted()
}

func expectError(
  _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation, performing: body)
  #expect(error?.code == code, sourceLocation: sourceLocation)
}

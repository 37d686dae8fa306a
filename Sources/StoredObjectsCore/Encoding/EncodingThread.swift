import Locks
import StoreEngine

/// Encodes the second half of a class's many changed objects, while the store encodes the first.
final class EncodingThread {
  /// What the thread has encoded; ranges count from the beginning of its bytes.
  struct Part: Sendable {
    var bytes: [UInt8] = []
    var records: [ChangeSet.RecordChange] = []
  }

  /// The first object that is the thread's.
  let firstIndex: Int
  private let part: JoinedResult<Part?>

  /// Whether a class has so many changed objects that a thread is worth its while.
  static func isWorthwhile(_ entry: RegisteredClass) -> Bool {
    entry.pending.count >= TwoThreads.minimumCount && entry.type.isCodedOnAnyThread
  }

  /// Begins to encode; nil when the system has no thread left, and the store has to do it all.
  init?(_ entry: RegisteredClass) {
    let objects = LentObjects(entry.pending)
    let (first, format) = (objects.count / 2, RecordFormat(entry))
    guard let part = JoinedResult({ objects.encode(from: first, format) }) else { return nil }
    (firstIndex, self.part) = (first, part)
  }

  /// Waits for what the thread has encoded; nil when it met an object that needs the store.
  func finish() -> Part? { part.take() ?? nil }
}

/// Objects that a thread may read, while the one that has their store changes none.
///
/// `@unchecked Sendable`: the thread is joined before the save goes on. Until then nobody changes
/// the objects: a class whose `writeContent(to:)` does does not let itself be encoded on any
/// thread.
private struct LentObjects: @unchecked Sendable {
  private let objects: [StoredObject]

  init(_ objects: [StoredObject]) { self.objects = objects }

  var count: Int { objects.count }

  /// The records from an object on; nil when one can't be written without the store.
  func encode(from first: Int, _ format: RecordFormat) -> EncodingThread.Part? {
    var part = EncodingThread.Part()
    var buffer = DataBuffer()
    part.records.reserveCapacity(objects.count - first)
    for object in objects[first...] {
      guard let kind = object.state.change else { continue }
      if part.records.count == 4096 {
        buffer.reserveCapacity(buffer.byteCount / 4096 * (objects.count - first))
      }
      guard let range = object.encoded(kind, format, to: &buffer) else { return nil }
      part.records.append(.init(kind: kind, rowID: object.rowID, range: range))
    }
    part.bytes = buffer.takeBytes()
    return part
  }
}

extension StoredObject {
  /// Writes the object's record; nil when that needs the store.
  @inline(__always)
  fileprivate final func encoded(
    _ kind: ChangeSet.Kind, _ format: RecordFormat, to buffer: inout DataBuffer
  ) -> Range<Int>? {
    if kind == .delete { return 0..<0 }
    guard isReadable, rowID > ClassMetadata.rowID else { return nil }
    return try? buffer.writeRecord(of: self, format)
  }
}

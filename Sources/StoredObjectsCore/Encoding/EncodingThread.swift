import Locks
import StoreEngine

/// Encodes the second half of a class's changed objects while the store encodes the first half.
final class EncodingThread {
  /// The encoded records; their ranges start at the beginning of the thread's bytes.
  struct Part: Sendable {
    var bytes: [UInt8] = []
    var records: [ChangeSet.RecordChange] = []
  }

  /// The index of the first object that the thread encodes.
  let firstIndex: Int
  private let part: JoinedResult<Part?>

  /// Whether a class has enough changed objects for a second thread.
  static func isWorthwhile(_ entry: RegisteredClass) -> Bool {
    entry.type.isCodedOnAnyThread && TwoThreads.areUseful(for: entry.pending.count)
  }

  /// Starts encoding; nil if no thread could be started, and the store has to encode everything.
  init?(_ entry: RegisteredClass) {
    let objects = LentObjects(entry.pending)
    let (first, format) = (objects.count / 2, RecordFormat(entry))
    guard let part = JoinedResult({ objects.encode(from: first, format) }) else { return nil }
    (firstIndex, self.part) = (first, part)
  }

  /// Waits for the encoded records; nil if the thread met an object that needs the store.
  func finish() -> Part? { part.take() ?? nil }
}

/// Objects that a second thread may read, while the store's thread changes none of them.
///
/// `@unchecked Sendable`: the thread is joined before the save continues. Until then nothing
/// changes the objects: a class whose `writeContent(to:)` changes objects must not set
/// `isCodedOnAnyThread`.
private struct LentObjects: @unchecked Sendable {
  private let objects: [StoredObject]

  init(_ objects: [StoredObject]) { self.objects = objects }

  var count: Int { objects.count }

  /// Returns the records from an object on; nil if one can't be written without the store.
  func encode(from first: Int, _ format: RecordFormat) -> EncodingThread.Part? {
    var part = EncodingThread.Part()
    var buffer = DataBuffer()
    part.records.reserveCapacity(objects.count - first)
    let lent = objects.span
    for index in first..<objects.count {
      guard let kind = lent[index].state.change else { continue }
      if part.records.count == ChangeSetEncoder.sampleCount {
        buffer.reserveCapacity(
          ChangeSetEncoder.estimatedByteCount(of: objects.count - first, buffer.byteCount))
      }
      // Without the count of a reference, which would cost a fifth of the whole.
      let object = unsafe Unmanaged.passUnretained(lent[index])
      let range = unsafe object._withUnsafeGuaranteedRef { $0.encoded(kind, format, to: &buffer) }
      guard let range else { return nil }
      part.records.append(.init(kind: kind, rowID: lent[index].rowID, range: range))
    }
    part.bytes = buffer.takeBytes()
    return part
  }
}

extension StoredObject {
  /// Writes the object's record; returns nil if that needs the store.
  @inline(__always)
  fileprivate final func encoded(
    _ kind: ChangeSet.Kind, _ format: RecordFormat, to buffer: inout DataBuffer
  ) -> Range<Int>? {
    if kind == .delete { return 0..<0 }
    guard isReadable, rowID > ClassMetadata.rowID else { return nil }
    return try? buffer.writeRecord(of: self, format)
  }
}

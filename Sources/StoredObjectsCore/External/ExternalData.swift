public import FoundationEssentials
import Locks
public import StoreEngine

/// A value of any size that is kept outside of its object's record once it is large.
///
///     @Stored final class Song: StoredObject {
///       var title = ""
///       var cover = ExternalData()
///     }
///
///     song.cover = ExternalData(picture)
///     try store.saveChanges()
///     let picture = try song.cover.data()
///
/// It never changes: assign another one. Reading an object reads no such value; ``data()`` and
/// ``reader()`` do, each time. Safe to use on any thread. See <doc:StoringLargeValues>.
public struct ExternalData: Sendable {
  let box: ExternalBox

  init(_ box: ExternalBox) { self.box = box }

  /// Makes an empty value.
  public init() { box = .empty }

  /// Makes a value of bytes in memory, which are released once they are saved outside of a record.
  public init(_ data: Data) { self.init([UInt8](data)) }

  /// Makes a value of bytes in memory, which are released once they are saved outside of a record.
  public init(_ bytes: [UInt8]) { box = bytes.isEmpty ? .empty : ExternalBox(bytes) }

  /// The number of bytes.
  ///
  /// Complexity: constant time.
  public var byteCount: Int { box.byteCount }

  /// Whether there are no bytes.
  public var isEmpty: Bool { byteCount == 0 }

  /// Reads all bytes.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `notAuthentic`, `recordMissing` (the
  ///   value is gone), `ioError` or `closed`.
  public func data() throws(StoreError) -> Data { Data(try bytes()) }

  /// Reads all bytes.
  ///
  /// - Throws: ``/StoreEngine/StoreError``, as ``data()``.
  public func bytes() throws(StoreError) -> [UInt8] {
    if let bytes = box.bytesInMemory { return bytes }
    return try reader().readAll()
  }

  /// Opens the value, to read it in constant memory.
  ///
  /// - Throws: ``/StoreEngine/StoreError``, as ``data()``.
  public func reader() throws(StoreError) -> ExternalReader { try box.reader() }
}

/// What values share that are the same.
final class ExternalBox: Sendable {
  static let empty = ExternalBox([])

  let byteCount: Int
  private let state: Locked<State>

  fileprivate struct State {
    /// The bytes, as long as they are stored nowhere.
    var bytes: [UInt8]?
    /// What refers to the bytes in images and, from then on, in records.
    var reference: ExternalReference?
    /// The same value in each backend that it was saved to.
    var stored: [ExternalValue] = []
  }

  init(_ bytes: [UInt8]) {
    byteCount = bytes.count
    state = Locked(State(bytes: bytes))
  }

  init(_ stored: ExternalValue) {
    byteCount = stored.reference.byteCount
    state = Locked(State(stored: [stored]))
  }

  /// The bytes, if they are stored nowhere.
  var bytesInMemory: [UInt8]? { state.withLock { $0.bytes } }

  func reader() throws(StoreError) -> ExternalReader {
    let (bytes, stored) = state.withLock { ($0.bytes, $0.stored.first) }
    do {
      if let stored { return try stored.reader() }
    } catch {
      throw .wrapping(error, .ioError, at: .init())
    }
    return ExternalReader(bytes ?? [])
  }

  /// The value in a backend, where it is written if it isn't there yet.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `noSpace`, `ioError` or `closed`; what reading a
  ///   value of another backend throws.
  func stored(in values: ExternalValues) throws(StoreError) -> ExternalValue {
    try state.withLock { (state) throws(StoreError) in
      if let known = state.stored.first(where: { $0.values === values }) { return known }
      let value = ExternalValue(
        try state.write(to: values.storage), in: values, isNew: true)
      state.stored.append(value)
      state.bytes = nil
      return value
    }
  }

  /// What stands for bytes in memory in the image of an object; nil for a value that is stored.
  var imageReference: ExternalReference? {
    state.withLock { state in
      if let known = state.reference { return known }
      guard let bytes = state.bytes else { return nil }
      let reference = ExternalReference(
        id: .random(), byteCount: bytes.count, checksum: ExternalValueWriter.checksum(bytes))
      state.reference = reference
      return reference
    }
  }
}

extension ExternalBox.State {
  /// Writes the bytes, under the identifier that images have for them.
  fileprivate mutating func write(
    to storage: any ExternalStorage
  ) throws(StoreError) -> ExternalReference {
    var writer = try ExternalValueWriter(
      storage, bytes == nil ? .random() : reference?.id ?? .random())
    if let bytes {
      try writer.write(bytes)
    } else if var reader = try stored.first?.reader() {
      while let chunk = try reader.next() { try writer.write(chunk) }
    }
    return try writer.finish()
  }
}

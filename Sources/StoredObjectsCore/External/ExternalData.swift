public import FoundationEssentials
import Locks
public import StoreEngine

/// A value of any size, which is stored outside of its object's record if it is large.
///
///     @Stored final class Song: StoredObject {
///       var title = ""
///       var cover = ExternalData()
///     }
///
/// Assign a value, save it, and read it:
///
///     song.cover = ExternalData(picture)
///     try store.saveChanges()
///     let same = try song.cover.data()
///
/// The value is immutable: to change it, assign another one. Reading an object does not read the
/// value. ``data()`` and ``reader()`` read it, on each call. You can use the value on any thread.
/// See <doc:StoringLargeValues>.
public struct ExternalData: Sendable {
  let box: ExternalBox

  init(_ box: ExternalBox) { self.box = box }

  /// Creates an empty value.
  public init() { box = .empty }

  /// Creates a value from bytes, which stay in memory until they are saved outside of a record.
  ///
  /// Complexity: linear in the size of the data.
  public init(_ data: Data) { self.init([UInt8](data)) }

  /// Creates a value from bytes, which stay in memory until they are saved outside of a record.
  public init(_ bytes: [UInt8]) { box = bytes.isEmpty ? .empty : ExternalBox(bytes) }

  /// The number of bytes.
  ///
  /// Complexity: Constant time.
  public var byteCount: Int { box.byteCount }

  /// Whether the value is empty.
  public var isEmpty: Bool { byteCount == 0 }

  /// Reads all bytes.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `notAuthentic`, `recordMissing` (the
  ///   value is gone), `ioError` or `closed`.
  public func data() throws(StoreError) -> Data { Data(try bytes()) }

  /// Reads all bytes.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: The errors of ``data()``.
  public func bytes() throws(StoreError) -> [UInt8] {
    if let bytes = box.bytesInMemory { return bytes }
    return try reader().readAll()
  }

  /// Returns a reader that reads the value in constant memory.
  ///
  /// Complexity: O(1); the reader reads parts later.
  ///
  /// - Throws: The errors of ``data()``.
  public func reader() throws(StoreError) -> ExternalReader { try box.reader() }
}

/// The storage that copies of a value share.
final class ExternalBox: Sendable {
  static let empty = ExternalBox([])

  let byteCount: Int
  private let state: Locked<State>

  fileprivate struct State {
    /// The bytes, until they are stored in a backend.
    var bytes: [UInt8]?
    /// The reference to the bytes in images, and later in records.
    var reference: ExternalReference?
    /// The value in each backend that it was saved to.
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

  /// The bytes, if they are not stored in a backend.
  var bytesInMemory: [UInt8]? { state.withLock { $0.bytes } }

  /// Whether the value is stored in a backend.
  func isStored(in values: ExternalValues) -> Bool {
    state.withLock { $0.stored.contains { $0.values === values } }
  }

  func reader() throws(StoreError) -> ExternalReader {
    let (bytes, stored) = state.withLock { ($0.bytes, $0.stored.first) }
    do {
      if let stored { return try stored.reader() }
    } catch {
      throw .wrapping(error, .ioError, at: .init())
    }
    return ExternalReader(bytes ?? [])
  }

  /// Returns the value in a backend, and writes it first if necessary.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `noSpace`, `ioError` or `closed`, and the errors of
  ///   reading a value from another backend.
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

  /// The reference to bytes in memory for the image of an object; nil for a stored value.
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
  /// Writes the bytes, with the identifier that images use for them.
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

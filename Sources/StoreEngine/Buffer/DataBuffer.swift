/// The bytes of a record: written value by value, and read in the same order.
///
/// A buffer has neither field names nor padding. An object reads exactly what it wrote, in the
/// order in which it wrote it:
///
///     override func writeContent(to buffer: inout DataBuffer) {
///       buffer.write(title)
///       buffer.write(seconds)
///     }
///     override func readContent(from buffer: inout DataBuffer) throws {
///       title = try buffer.readString()
///       seconds = try buffer.readUInt32()
///     }
///
/// Reading checks everything before it allocates anything. A value that needs more bytes than are
/// left, a count that the rest can't hold, and bytes that are not UTF-8 each throw a
/// ``DataBufferError`` with the offset. Writing never throws: ``failure`` keeps the first value
/// that can't be written, and a save throws it.
///
///     storage:  | other records | 00 | 13 00 00 00 | Walking on Sunshine | 2A 01 00 00 |
///                               ^ start                                  ^ position    ^ end
///
/// See <doc:DataBufferFormat> for the bytes of every type.
public struct DataBuffer {
  @usableFromInline var storage: [UInt8]
  /// The index of the record's first byte; offsets in errors are relative to it.
  @usableFromInline package var start: Int
  /// The index of the next byte to read.
  @usableFromInline package var position: Int
  /// The index after the last byte to read.
  @usableFromInline package var end: Int

  /// The class version that the record was written with; 0 for a buffer that is not a record.
  public package(set) var version: UInt8 {
    @inlinable get { recordVersion }
    @inlinable set { recordVersion = newValue }
  }
  @usableFromInline var recordVersion: UInt8 = 0
  /// The current depth of nested reads or writes.
  @usableFromInline var depth: UInt16 = 0

  /// Converts between references and objects; nil in a buffer that belongs to no store.
  ///
  /// It belongs to the layer above, which knows the type of what it stores here.
  @usableFromInline package var owner: AnyObject?

  /// Records the types of the values written; nil unless the layout of a class is being determined.
  @usableFromInline package var recorder: ShapeRecorder?

  /// The first error in writing a value, or nil.
  public private(set) var failure: DataBufferError?

  /// Creates an empty buffer to write to.
  public init() { self.init([]) }

  /// Creates a buffer that reads these bytes from first to last, or appends to them.
  ///
  /// Complexity: constant time; the bytes are shared until the buffer writes.
  public init(_ bytes: [UInt8]) { self.init(bytes, owner: nil) }

  @inlinable package init(_ bytes: [UInt8], owner: AnyObject?) {
    storage = bytes
    start = 0
    position = 0
    end = bytes.count
    self.owner = owner
  }

  /// All bytes of the buffer, whether read or not.
  ///
  /// Complexity: constant time.
  public var bytes: [UInt8] { storage }

  /// The number of bytes before the reading position.
  @inlinable public var offset: Int { position - start }

  /// The number of bytes that are left to read.
  @inlinable public var remainingCount: Int { end - position }

  /// Skips bytes that the object does not need.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, or `invalidValue` for a negative count.
  public mutating func skip(_ count: Int) throws(DataBufferError) {
    guard count >= 0 else {
      throw DataBufferError(
        .invalidValue, at: offset,
        "skip(_:) needs a count of 0 or more, not \(count)")
    }
    try require(count)
    position += count
  }

  /// Skips all remaining bytes, such as fields of an old version that this version dropped.
  public mutating func skipRemaining() { position = end }
}

extension DataBuffer {
  @inlinable @inline(__always)
  mutating func require(_ count: Int) throws(DataBufferError) {
    guard end - position >= count else { throw endOfBuffer(count) }
  }

  @usableFromInline func endOfBuffer(_ count: Int) -> DataBufferError {
    DataBufferError(
      .endOfBuffer, at: offset, "\(count) bytes are needed, \(remainingCount) are left")
  }

  /// Sets the buffer's failure, unless an earlier one is set.
  @usableFromInline package mutating func fail(_ code: DataBufferError.Code, _ message: String) {
    if failure == nil {
      failure = DataBufferError(code, at: storage.count - start, message)
    }
  }

  /// The remaining bytes to read.
  package var rest: ArraySlice<UInt8> { storage[position..<end] }

  /// Starts reading what has been written, from the beginning.
  package mutating func rewind() { (start, position, end) = (0, 0, storage.count) }

  mutating func forgetFailure() { failure = nil }

  /// Writes the count that precedes a string, data or a collection.
  @inlinable package mutating func writeCount(_ count: Int) {
    guard let small = UInt32(exactly: count) else {
      return fail(.tooLong, "\(count) bytes or elements are too many: a count has 32 bits")
    }
    write(small)
  }

  /// Reads a count, and verifies that the remaining bytes can hold that many elements.
  @inlinable @inline(__always)
  package mutating func readCount(minimumElementSize size: Int) throws(DataBufferError) -> Int {
    let count = Int(try readUInt32())
    guard count <= remainingCount / size else {
      position -= 4
      throw countBeyondEnd(count, size)
    }
    return count
  }

  @usableFromInline func countBeyondEnd(_ count: Int, _ size: Int) -> DataBufferError {
    DataBufferError(
      .countBeyondEnd, at: offset,
      """
      a count of \(count), with at least \(size) bytes each, but only \(remainingCount - 4) bytes \
      are left
      """)
  }
}

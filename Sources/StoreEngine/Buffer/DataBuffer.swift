/// The bytes of a record: written value by value, read back in the same order.
///
/// A buffer has neither field names nor padding, so an object reads exactly what it wrote, in the
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
/// Reading checks everything. A value that needs more bytes than are left, a count that the rest
/// can't hold, bytes that are not UTF-8: each throws a ``DataBufferError`` with its offset,
/// before anything is allocated. Writing never throws: the
/// first value that can't be written is remembered in ``failure``, and a save throws it.
///
///     storage:  | other records | 00 | 13 00 00 00 | Walking on Sunshine | 2A 01 00 00 |
///                               ^ start                                  ^ position    ^ end
///
/// <doc:DataBufferFormat> gives the bytes of every type.
public struct DataBuffer {
  @usableFromInline var storage: [UInt8]
  /// Where the record begins; offsets in errors count from here.
  @usableFromInline package var start: Int
  /// The next byte to read.
  @usableFromInline package var position: Int
  /// Behind the last byte to read.
  @usableFromInline package var end: Int

  /// The class version that the record was written with; 0 for a buffer that is no record.
  public package(set) var version: UInt8 {
    @inlinable get { recordVersion }
    @inlinable set { recordVersion = newValue }
  }
  @usableFromInline var recordVersion: UInt8 = 0
  /// How many values are being read or written inside of each other.
  @usableFromInline var depth: UInt16 = 0

  /// Who turns references into objects and back; nil in a buffer of one's own.
  ///
  /// A part of the layer above, which knows what it has put here.
  @usableFromInline package var owner: AnyObject?

  /// Takes down the kinds of what is written; nil but for a look at what a class writes.
  @usableFromInline package var recorder: ShapeRecorder?

  /// The first value that could not be written, or nil.
  public private(set) var failure: DataBufferError?

  /// Makes an empty buffer to write to.
  public init() { self.init([]) }

  /// Makes a buffer that reads these bytes from the first to the last, or appends to them.
  ///
  /// Complexity: constant time; the bytes are shared until the buffer writes.
  public init(_ bytes: [UInt8]) { self.init(bytes, owner: nil) }

  @usableFromInline package init(_ bytes: [UInt8], owner: AnyObject?) {
    storage = bytes
    start = 0
    position = 0
    end = bytes.count
    self.owner = owner
  }

  /// All bytes of the buffer, read or not.
  ///
  /// Complexity: constant time.
  public var bytes: [UInt8] { storage }

  /// The number of bytes before the reading position.
  @inlinable public var offset: Int { position - start }

  /// The number of bytes that are left to read.
  @inlinable public var remainingCount: Int { end - position }

  /// Passes over bytes that the object has no use for.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, or `invalidValue` for a negative count.
  public mutating func skip(_ count: Int) throws(DataBufferError) {
    guard count >= 0 else {
      throw DataBufferError(.invalidValue, at: offset, "skip(_:) goes forward, not by \(count)")
    }
    try require(count)
    position += count
  }

  /// Passes over all that is left, such as the fields that an old version wrote and this one
  /// dropped.
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

  /// Remembers what could not be written; the first failure counts.
  @usableFromInline package mutating func fail(_ code: DataBufferError.Code, _ message: String) {
    if failure == nil {
      failure = DataBufferError(code, at: storage.count - start, message)
    }
  }

  /// The bytes that are left to read.
  package var rest: ArraySlice<UInt8> { storage[position..<end] }

  /// Reads what has been written, from the beginning.
  package mutating func rewind() { (start, position, end) = (0, 0, storage.count) }

  mutating func forgetFailure() { failure = nil }

  /// Writes a count in front of a string, data or a collection.
  @inlinable package mutating func writeCount(_ count: Int) {
    guard let small = UInt32(exactly: count) else {
      return fail(.tooLong, "\(count) bytes or elements; a count has 32 bits")
    }
    write(small)
  }

  /// Reads a count, and makes sure that so many elements of that size can follow.
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
      "a count of \(count), at least \(size) bytes each, with \(remainingCount - 4) bytes left")
  }
}

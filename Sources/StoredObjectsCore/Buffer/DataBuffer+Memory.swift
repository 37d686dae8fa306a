// How the store hands bytes to buffers and takes them back. The only copy of a record that is read is
// the one made here, out of bytes that a backend lends.

extension DataBuffer {
  /// The number of bytes written, those of earlier records included.
  var byteCount: Int { storage.count }

  /// Starts over as a buffer that reads a copy of these bytes, and keeps its memory.
  mutating func fill(with bytes: RawSpan) {
    removeAll()
    storage.append(copying: bytes)
    end = storage.count
  }

  /// Starts over as an empty buffer, and keeps its memory.
  mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    (start, position, end, version) = (0, 0, 0, 0)
    forgetFailure()
  }

  /// Reads one record out of bytes that hold many.
  mutating func window(_ range: Range<Int>, of bytes: [UInt8]) {
    storage = bytes
    (start, position, end, version) = (range.lowerBound, range.lowerBound, range.upperBound, 0)
  }

  /// Begins a record behind what is there, and returns where it begins.
  mutating func beginRecord() -> Int {
    start = storage.count
    return start
  }

  /// Writes bytes as they are, without a count.
  mutating func append(_ bytes: [UInt8]) { storage.append(contentsOf: bytes) }

  /// All bytes written.
  ///
  /// The buffer is empty afterwards.
  mutating func takeBytes() -> [UInt8] {
    defer { self = DataBuffer([], store: store) }
    return storage
  }
}

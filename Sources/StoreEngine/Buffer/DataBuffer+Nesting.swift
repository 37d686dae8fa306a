// A type of one's own may hold values of itself, and bytes say how deep. Each level takes some of the
// stack, so there is a limit.

extension DataBuffer {
  /// The number of reads, or of writes, that may go on inside of each other.
  ///
  /// A tree takes two for each level: one for a node, one for the array of its children. Debug builds
  /// need up to 2 KiB for each, and a small thread has 512.
  @usableFromInline static var maximumDepth: UInt16 { 256 }

  /// Reads a value, unless it is nested too deep.
  @inlinable @inline(__always)
  mutating func readNested<Value: DataBufferValue>(
    _ type: Value.Type
  ) throws(DataBufferError) -> Value {
    try enterRead(of: type)
    defer { leave(type) }
    return try Value(from: &self)
  }

  /// Writes a value, unless it is nested too deep.
  @inlinable @inline(__always)
  mutating func writeNested<Value: DataBufferValue>(_ value: Value) {
    guard enterWrite(of: Value.self) else { return }
    defer { leave(Value.self) }
    value.write(to: &self)
  }

  /// Begins to read a value or the elements of a collection; ``leave(_:)`` ends it.
  @inlinable @inline(__always)
  mutating func enterRead<Value>(of type: Value.Type) throws(DataBufferError) {
    if Self.isFlat(type) { return }
    guard depth < Self.maximumDepth else { throw tooDeep() }
    depth += 1
  }

  /// Begins to write; false for what is nested too deep, which has become the buffer's failure.
  @inlinable @inline(__always)
  mutating func enterWrite<Value>(of type: Value.Type) -> Bool {
    if Self.isFlat(type) { return true }
    guard depth < Self.maximumDepth else {
      fail(.tooDeep, Self.limit)
      return false
    }
    depth += 1
    return true
  }

  @inlinable @inline(__always)
  mutating func leave<Value>(_ type: Value.Type) {
    if !Self.isFlat(type) { depth -= 1 }
  }

  /// Whether a value can't hold others of its type; the compiler knows.
  @inlinable @inline(__always)
  static func isFlat<Value>(_ type: Value.Type) -> Bool {
    _isPOD(type) || type == String.self
  }

  @usableFromInline static var limit: String {
    "values are nested too deep: \(maximumDepth) in each other at most, arrays included"
  }

  @usableFromInline func tooDeep() -> DataBufferError {
    DataBufferError(.tooDeep, at: offset, Self.limit)
  }
}

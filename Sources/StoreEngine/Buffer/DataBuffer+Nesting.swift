// A custom type may contain values of itself, and the bytes decide how deep. Each level uses some
// of the stack, so there is a limit.

extension DataBuffer {
  /// The maximum depth of nested reads or writes.
  ///
  /// A tree takes two per level: one for a node, and one for the array of its children. Debug
  /// builds need up to 2 KiB for each, and a small thread has 512.
  @usableFromInline static var maximumDepth: UInt16 { 256 }

  /// Reads a value, or throws if it is nested too deep.
  @inlinable @inline(__always)
  mutating func readNested<Value: DataBufferValue>(
    _ type: Value.Type
  ) throws(DataBufferError) -> Value {
    try enterRead(of: type)
    defer { leave(type) }
    return try Value(from: &self)
  }

  /// Writes a value, or sets the buffer's failure if it is nested too deep.
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

  /// Begins to write; if the nesting is too deep, sets the buffer's failure and returns false.
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

  /// Whether values of a type can't contain values of the same type; resolved at compile time.
  @inlinable @inline(__always)
  static func isFlat<Value>(_ type: Value.Type) -> Bool {
    _isPOD(type) || type == String.self
  }

  @usableFromInline static var limit: String {
    "values are nested more than \(maximumDepth) deep, arrays included"
  }

  @usableFromInline func tooDeep() -> DataBufferError {
    DataBufferError(.tooDeep, at: offset, Self.limit)
  }
}

// One name for writing and one for reading, whatever the type: what a macro calls, which sees no
// types. The compiler chooses among them, and those for references, by the type alone. A type that
// writes itself, or is referred to, is not encoded although it is `Codable`: that is disfavored.

extension DataBuffer {
  /// Writes a value in the form of its type, as `write(_:)` does.
  @inlinable public mutating func writeValue<Value: DataBufferValue>(
    _ value: Value, as type: Value.Type
  ) {
    writeNested(value)
  }

  /// Writes a value that is only `Codable`, as ``write(codable:)`` does.
  @_disfavoredOverload
  public mutating func writeValue<Value: Codable>(_ value: Value, as type: Value.Type) {
    write(codable: value)
  }

  /// Tells how to make a type storable.
  @available(
    *, unavailable,
    message: "a stored value is DataBufferValue, Codable, or a reference: Song?, [Song], Set<Song>"
  )
  public mutating func writeValue<Value>(_ value: Value, as type: Value.Type) {}

  /// Reads a value in the form of its type, as `read(_:)` does.
  ///
  /// - Throws: ``DataBufferError``, with the offset of the fault.
  @inlinable public mutating func readValue<Value: DataBufferValue>(
    of type: Value.Type
  ) throws(DataBufferError) -> Value { try readNested(type) }

  /// Reads a value that is only `Codable`, as ``readCodable(_:)`` does.
  ///
  /// - Throws: ``DataBufferError``, with the offset of the fault.
  @_disfavoredOverload
  public mutating func readValue<Value: Codable>(
    of type: Value.Type
  ) throws(DataBufferError) -> Value { try readCodable(type) }

  /// Tells how to make a type storable.
  ///
  /// - Throws: ``DataBufferError``, always.
  @available(
    *, unavailable,
    message: "a stored value is DataBufferValue, Codable, or a reference: Song?, [Song], Set<Song>"
  )
  public mutating func readValue<Value>(of type: Value.Type) throws(DataBufferError) -> Value {
    throw DataBufferError(.invalidValue, at: offset, "\(type) can't be stored")
  }
}

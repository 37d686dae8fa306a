// One name for writing and one for reading, whatever the type. Macros call these, because a macro
// sees no types. The compiler chooses an overload, or one of those for references, by the type
// alone. The `Codable` overloads are disfavored, so that a type that writes itself, or is a
// reference, is not encoded even if it is also `Codable`.

extension DataBuffer {
  /// Writes a value in the form of its type, as `write(_:)` does.
  ///
  /// Complexity: linear in the size of the value.
  @inlinable public mutating func writeValue<Value: DataBufferValue>(
    _ value: Value, as type: Value.Type
  ) {
    writeNested(value)
  }

  /// Writes a value that is only `Codable`, as ``write(codable:)`` does.
  ///
  /// Complexity: as ``write(codable:)``.
  @_disfavoredOverload
  public mutating func writeValue<Value: Codable>(_ value: Value, as type: Value.Type) {
    write(codable: value)
  }

  /// Reports at compile time how to make a type storable.
  @available(
    *, unavailable,
    message: "a stored value is DataBufferValue, Codable, or a reference: Song?, [Song], Set<Song>"
  )
  public mutating func writeValue<Value>(_ value: Value, as type: Value.Type) {}

  /// Reads a value in the form of its type, as `read(_:)` does.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: ``DataBufferError``, with the offset of the error.
  @inlinable public mutating func readValue<Value: DataBufferValue>(
    of type: Value.Type
  ) throws(DataBufferError) -> Value { try readNested(type) }

  /// Reads a value that is only `Codable`, as ``readCodable(_:)`` does.
  ///
  /// Complexity: as ``readCodable(_:)``.
  ///
  /// - Throws: ``DataBufferError``, with the offset of the error.
  @_disfavoredOverload
  public mutating func readValue<Value: Codable>(
    of type: Value.Type
  ) throws(DataBufferError) -> Value { try readCodable(type) }

  /// Reports at compile time how to make a type storable.
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

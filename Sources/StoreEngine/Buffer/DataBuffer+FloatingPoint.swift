// BNRPersistence wrote floating-point numbers with the most significant byte first, although its
// integers are the other way round.

extension DataBuffer {
  /// Writes a 32-bit IEEE 754 number; without an order, `write(_:)` is big-endian.
  @inlinable public mutating func write(_ value: Float, order: ByteOrder) {
    writing(.float) { $0.appendInteger(value.bitPattern, order: order) }
  }

  /// Writes a 64-bit IEEE 754 number; without an order, `write(_:)` is big-endian.
  @inlinable public mutating func write(_ value: Double, order: ByteOrder) {
    writing(.double) { $0.appendInteger(value.bitPattern, order: order) }
  }

  /// Reads a 32-bit floating-point number.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable public mutating func readFloat(
    order: ByteOrder = .bigEndian
  ) throws(DataBufferError) -> Float { Float(bitPattern: try readUInt32(order: order)) }

  /// Reads a 64-bit floating-point number.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable public mutating func readDouble(
    order: ByteOrder = .bigEndian
  ) throws(DataBufferError) -> Double { Double(bitPattern: try readUInt64(order: order)) }
}

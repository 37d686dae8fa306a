// `Int` and `UInt` differ in width between machines. On disk they always have 64 bits.

extension Int: DataBufferValue {
  /// The eight bytes of the integer.
  @inlinable public static var minimumByteCount: Int { 8 }
  /// A signed integer of 64 bits, on every machine.
  public static var storedType: StoredType { .integer(bitCount: 64, isSigned: true) }

  /// Reads eight little-endian bytes; a number out of the range of `Int` throws `invalidValue`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer` or `invalidValue`.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readInt()
  }

  /// Writes eight bytes, little-endian.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.write(self, order: .littleEndian)
  }
}

extension UInt: DataBufferValue {
  /// The eight bytes of the integer.
  @inlinable public static var minimumByteCount: Int { 8 }
  /// An unsigned integer of 64 bits, on every machine.
  public static var storedType: StoredType { .integer(bitCount: 64, isSigned: false) }

  /// Reads eight little-endian bytes; a number out of the range of `UInt` throws `invalidValue`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer` or `invalidValue`.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readUInt()
  }

  /// Writes eight bytes, little-endian.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.write(self, order: .littleEndian)
  }
}

extension DataBuffer {
  /// Writes an `Int` as eight bytes in the given order.
  ///
  /// Complexity: constant time.
  @inlinable public mutating func write(_ value: Int, order: ByteOrder) {
    write(Int64(value), order: order)
  }

  /// Writes a `UInt` as eight bytes in the given order.
  ///
  /// Complexity: constant time.
  @inlinable public mutating func write(_ value: UInt, order: ByteOrder) {
    write(UInt64(value), order: order)
  }

  /// Reads eight bytes as an `Int`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, or `invalidValue` for a number out of the
  ///   range of `Int` on this machine.
  @inlinable
  public mutating func readInt(order: ByteOrder = .littleEndian) throws(DataBufferError) -> Int {
    try narrowed(try readInt64(order: order))
  }

  /// Reads eight bytes as a `UInt`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, or `invalidValue` for a number out of the
  ///   range of `UInt` on this machine.
  @inlinable
  public mutating func readUInt(order: ByteOrder = .littleEndian) throws(DataBufferError) -> UInt {
    try narrowed(try readUInt64(order: order))
  }

  /// Converts a number that was just read to a type that may be narrower.
  @inlinable package func narrowed<Wide: FixedWidthInteger, Narrow: FixedWidthInteger>(
    _ value: Wide, to type: Narrow.Type = Narrow.self
  ) throws(DataBufferError) -> Narrow {
    if let narrow = Narrow(exactly: value) { return narrow }
    throw tooWide(value, Narrow.bitWidth)
  }

  @usableFromInline func tooWide(
    _ value: some FixedWidthInteger, _ width: Int
  ) -> DataBufferError {
    DataBufferError(
      .invalidValue, at: offset - 8,
      "\(value) does not fit into \(width) bits: read it with readInt64() or readUInt64()")
  }
}

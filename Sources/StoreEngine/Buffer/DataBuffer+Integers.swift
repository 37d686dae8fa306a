import Files

extension DataBuffer {
  /// Writes a fixed-width integer; without an order, `write(_:)` is little-endian.
  ///
  /// Complexity: constant time.
  @inlinable public mutating func write<Integer: FixedWidthInteger & DataBufferValue>(
    _ value: Integer, order: ByteOrder
  ) {
    // Avoids `writing`, whose closure the compiler would not inline here.
    if recorder == nil { return appendInteger(value, order: order) }
    recording(Integer.storedType) { $0.appendInteger(value, order: order) }
  }

  @inlinable @inline(__always)
  mutating func appendInteger<Integer: FixedWidthInteger>(_ value: Integer, order: ByteOrder) {
    if Integer.bitWidth <= 32 {
      return appendBytes(of: order == .littleEndian ? value : value.byteSwapped)
    }
    let bits = order == .littleEndian ? value.littleEndian : value.bigEndian
    storage.append(addingCapacity: Integer.bitWidth / 8) { target in
      unsafe target.withUnsafeMutableBufferPointer { target, initializedCount in
        unsafe UnsafeMutableRawBufferPointer(target).storeBytes(of: bits, as: Integer.self)
        initializedCount = Integer.bitWidth / 8
      }
    }
  }

  /// Appends up to four bytes one by one, which is faster for so few.
  @inlinable @inline(__always)
  mutating func appendBytes<Integer: FixedWidthInteger>(of value: Integer) {
    var bits = value
    for _ in 0..<(Integer.bitWidth / 8) {
      storage.append(UInt8(truncatingIfNeeded: bits))
      bits = Integer.bitWidth > 8 ? bits >> 8 : bits
    }
  }

  /// Writes a Bool as one byte, 0 or 1.
  @inlinable public mutating func write(_ value: Bool) {
    writing(.bool) { $0.storage.append(value ? 1 : 0) }
  }

  @inlinable @inline(__always)
  mutating func readInteger<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ order: ByteOrder, as type: Integer.Type = Integer.self
  ) throws(DataBufferError) -> Integer {
    let size = Integer.bitWidth / 8
    try require(size)
    let bits = unsafe storage.span.bytes.unsafeLoadUnaligned(
      fromByteOffset: position, as: Integer.self)
    position += size
    return order == .littleEndian ? Integer(littleEndian: bits) : Integer(bigEndian: bits)
  }

  /// The next four bytes as a number, without reading past them; nil if fewer are left.
  @inlinable package var nextUInt32: UInt32? {
    guard end - position >= 4 else { return nil }
    return unsafe UInt32(
      littleEndian: storage.span.bytes.unsafeLoadUnaligned(
        fromByteOffset: position, as: UInt32.self))
  }

  /// Writes row IDs of four bytes, least significant byte first, without a count.
  package mutating func writeRows(_ rowIDs: [UInt32]) {
    // This is a copy on a little-endian processor.
    let numbers = UInt32(1).littleEndian == 1 ? rowIDs : rowIDs.map(\.littleEndian)
    unsafe storage.append(copying: numbers.span.bytes)
  }

  /// Reads the given number of row IDs of four bytes; the caller has checked that they are there.
  package mutating func readRows(_ count: Int) -> [UInt32] {
    defer { position += 4 * count }
    return rows(count)
  }

  private func rows(_ count: Int) -> [UInt32] {
    // The standard library writes the count of an empty array to memory that all of them share.
    if count == 0 { return [] }
    let bytes = unsafe storage.span.extracting(position..<position + 4 * count).bytes
    return unsafe [UInt32](unsafeUninitializedCapacity: count) { numbers, initialized in
      for index in 0..<count {
        let bits = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
        unsafe numbers.initializeElement(at: index, to: UInt32(littleEndian: bits))
      }
      initialized = count
    }
  }

  /// Reads one byte.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable @inline(__always)
  public mutating func readUInt8() throws(DataBufferError) -> UInt8 {
    try require(1)
    defer { position += 1 }
    return storage[position]
  }

  /// Reads one byte as a signed number.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable public mutating func readInt8() throws(DataBufferError) -> Int8 {
    Int8(bitPattern: try readUInt8())
  }

  /// Reads two bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable @inline(__always)
  public mutating func readUInt16(
    order: ByteOrder = .littleEndian
  ) throws(DataBufferError) -> UInt16 { try readInteger(order) }

  /// Reads two bytes as a signed number.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable @inline(__always)
  public mutating func readInt16(
    order: ByteOrder = .littleEndian
  ) throws(DataBufferError) -> Int16 { try readInteger(order) }

  /// Reads four bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable @inline(__always)
  public mutating func readUInt32(
    order: ByteOrder = .littleEndian
  ) throws(DataBufferError) -> UInt32 { try readInteger(order) }

  /// Reads four bytes as a signed number.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable @inline(__always)
  public mutating func readInt32(
    order: ByteOrder = .littleEndian
  ) throws(DataBufferError) -> Int32 { try readInteger(order) }

  /// Reads eight bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable @inline(__always)
  public mutating func readUInt64(
    order: ByteOrder = .littleEndian
  ) throws(DataBufferError) -> UInt64 { try readInteger(order) }

  /// Reads eight bytes as a signed number.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable @inline(__always)
  public mutating func readInt64(
    order: ByteOrder = .littleEndian
  ) throws(DataBufferError) -> Int64 { try readInteger(order) }

  /// Reads a Bool.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, or `invalidValue` for a byte other than 0
  ///   and 1.
  @inlinable public mutating func readBool() throws(DataBufferError) -> Bool {
    let byte = try readUInt8()
    guard byte <= 1 else {
      position -= 1
      throw DataBufferError(.invalidValue, at: offset, "\(byte) is not a Bool")
    }
    return byte == 1
  }
}

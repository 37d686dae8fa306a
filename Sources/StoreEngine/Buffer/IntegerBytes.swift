import Files

/// A few adjacent integers, appended to other bytes in one step.
///
/// Appending to an array takes as long for one byte as for eight or forty.
struct IntegerBytes {
  private var bytes: InlineArray<48, UInt8> = .init(repeating: 0)
  private var count = 0

  /// Adds an integer, least significant byte first.
  ///
  /// - Precondition: All integers together have at most 48 bytes.
  @inline(__always)
  mutating func add<Integer: FixedWidthInteger>(_ integer: Integer) {
    for index in 0..<Integer.bitWidth / 8 {
      bytes[count + index] = UInt8(truncatingIfNeeded: integer >> (8 * index))
    }
    count += Integer.bitWidth / 8
  }

  fileprivate func update(_ checksum: inout BatchChecksum) {
    checksum.update(bytes.span.extracting(..<count))
  }

  fileprivate func append(to target: inout [UInt8]) {
    // The array is initialized; the compiler only knows raw memory here.
    unsafe target.append(copying: bytes.span.bytes.extracting(..<count))
  }
}

extension [UInt8] {
  /// Appends integers.
  mutating func append(_ integers: IntegerBytes) { integers.append(to: &self) }
}

extension DataBuffer {
  /// Writes integers with the same bytes as writing each by itself.
  mutating func append(_ integers: IntegerBytes) { storage.append(integers) }
}

extension BatchChecksum {
  /// Adds integers to the checksum.
  mutating func update(_ integers: IntegerBytes) { integers.update(&self) }
}

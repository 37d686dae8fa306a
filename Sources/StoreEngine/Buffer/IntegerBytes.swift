import Files

/// A few integers side by side, which are appended to other bytes all at once.
///
/// To append to an array takes as long for a byte as for eight, or for forty.
struct IntegerBytes {
  private var bytes: InlineArray<40, UInt8> = .init(repeating: 0)
  private var count = 0

  /// Adds an integer, its least significant byte first.
  ///
  /// - Precondition: all of them have 40 bytes at most.
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
    // Bytes are initialised, whatever the compiler thinks of memory as such.
    unsafe target.append(copying: bytes.span.bytes.extracting(..<count))
  }
}

extension [UInt8] {
  /// Appends integers.
  mutating func append(_ integers: IntegerBytes) { integers.append(to: &self) }
}

extension DataBuffer {
  /// Writes integers, as one by one.
  mutating func append(_ integers: IntegerBytes) { storage.append(integers) }
}

extension BatchChecksum {
  /// Takes in integers.
  mutating func update(_ integers: IntegerBytes) { integers.update(&self) }
}

import Files
public import FoundationEssentials

extension DataBuffer {
  /// Writes a date: the seconds since the first instant of 2001, UTC, as a big-endian `Double`.
  public mutating func write(_ value: Date) {
    writing(.date) { $0.write(value.timeIntervalSinceReferenceDate) }
  }

  /// Reads a date.
  ///
  /// BNRPersistence wrote a missing date as 0, the first instant of 2001; here that is an ordinary
  /// date. Read a date that may be missing as an optional: `read(Date?.self)`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  public mutating func readDate() throws(DataBufferError) -> Date {
    Date(timeIntervalSinceReferenceDate: try readDouble())
  }

  /// Writes a UUID as its 16 bytes.
  public mutating func write(_ value: UUID) {
    let b = value.uuid
    writing(.uuid) {
      $0.storage.append(contentsOf: [
        b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7, b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15,
      ])
    }
  }

  /// Reads a UUID.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  public mutating func readUUID() throws(DataBufferError) -> UUID {
    try require(16)
    defer { position += 16 }
    let b = storage[position..<position + 16]
    func byte(_ index: Int) -> UInt8 { b[b.startIndex + index] }
    return UUID(
      uuid: (
        byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7),
        byte(8), byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
      ))
  }
}

extension UUID {
  /// Creates a UUID from two numbers; its first byte is the most significant of the first number.
  package init(high: UInt64, low: UInt64) {
    func byte(_ half: UInt64, _ index: UInt64) -> UInt8 {
      UInt8(truncatingIfNeeded: half >> (56 - 8 * index))
    }
    self.init(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
        byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }
}

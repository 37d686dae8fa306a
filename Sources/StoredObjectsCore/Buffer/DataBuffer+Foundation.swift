import Files
public import FoundationEssentials

extension DataBuffer {
  /// Writes a date: the seconds since the first instant of 2001, UTC, as a big-endian `Double`.
  public mutating func write(_ value: Date) { write(value.timeIntervalSinceReferenceDate) }

  /// Reads a date.
  ///
  /// The original wrote a missing date as 0, the first instant of 2001; here that is a date as any
  /// other. A date that may be missing is an optional: `read(Date?.self)`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  public mutating func readDate() throws(DataBufferError) -> Date {
    Date(timeIntervalSinceReferenceDate: try readDouble())
  }

  /// Writes a UUID as its 16 bytes.
  public mutating func write(_ value: UUID) {
    let b = value.uuid
    storage.append(contentsOf: [
      b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7, b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15,
    ])
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

  /// Writes any `Encodable` value as a binary property list, framed as data.
  ///
  /// A value that does not encode is remembered in ``failure``.
  ///
  /// Complexity: that of `PropertyListEncoder`; about a microsecond for a small value.
  public mutating func write<Value: Encodable>(codable value: Value) {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    do {
      // A property list needs a collection at its top.
      write(try encoder.encode([value]))
    } catch {
      fail(.notEncodable, "\(Value.self): \(error)")
    }
  }

  /// Reads a value that ``write(codable:)`` wrote.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd`, or `invalidValue` when the
  ///   property list holds no such value.
  public mutating func readCodable<Value: Decodable>(
    _ type: Value.Type = Value.self
  ) throws(DataBufferError) -> Value {
    let before = position
    let data = try readData()
    // The decoder would also take XML, whose nesting overflows the stack.
    var tree = PropertyListTree(Array(data))
    guard tree?.isBounded() == true else {
      position = before
      throw DataBufferError(.invalidValue, at: offset, "no binary property list, or a damaged one")
    }
    do {
      let values = try PropertyListDecoder().decode([Value].self, from: data)
      if let value = values.first, values.count == 1 { return value }
      position = before
    } catch {
      position = before
      throw DataBufferError(.invalidValue, at: offset, "no \(Value.self): \(error)")
    }
    throw DataBufferError(.invalidValue, at: offset, "no single \(Value.self)")
  }
}

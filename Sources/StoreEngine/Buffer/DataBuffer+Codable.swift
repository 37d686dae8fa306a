import Files

extension DataBuffer {
  /// Writes any `Encodable` value as a ``StoredValue``, framed as data.
  ///
  /// A value that fails to encode sets ``failure``. Examples are a value nested more than 256 deep,
  /// and an integer of more than 64 bits.
  ///
  /// Complexity: linear in the value; about a microsecond for a small one.
  public mutating func write<Value: Encodable>(codable value: Value) {
    writing(.codable("")) { $0.append(codable: value) }
  }

  private mutating func append<Value: Encodable>(codable value: Value) {
    do {
      let stored = try StoredValue(coding: value)
      let start = storage.count
      write(0 as UInt32)
      try ValueFormat.append(stored, to: &storage)
      setCount(at: start)
    } catch {
      fail(.notEncodable, "\(Value.self): \(error)")
    }
  }

  /// Stores the number of bytes after a count in that count.
  private mutating func setCount(at start: Int) {
    guard let count = UInt32(exactly: storage.count - start - 4) else {
      return fail(
        .tooLong,
        "a value of \(storage.count - start - 4) bytes is too large: its count has 32 bits")
    }
    for byte in 0..<4 { storage[start + byte] = UInt8(truncatingIfNeeded: count >> (8 * byte)) }
  }

  /// Reads a value that ``write(codable:)`` or an earlier version of it wrote.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd`, or `invalidValue` if the
  ///   bytes hold no such value.
  public mutating func readCodable<Value: Decodable>(
    _ type: Value.Type = Value.self
  ) throws(DataBufferError) -> Value {
    let before = position
    let count = try readCount(minimumElementSize: 1)
    let range = position..<position + count
    do {
      let value: Value =
        if PropertyListReader.isList(storage[range]) {
          try PropertyListReader.value(in: Array(storage[range]))
            .decode(as: type, fromPropertyList: true)
        } else {
          try storage.lend { try ValueReader.value(in: $0.extracting(range)) }.decode(as: type)
        }
      position = range.upperBound
      return value
    } catch {
      position = before
      throw DataBufferError(
        .invalidValue, at: offset,
        "not a valid \(Value.self): \(Self.words(of: error))")
    }
  }

  private static func words(of error: any Error) -> String {
    switch error {
    case let damage as ValueFormat.Damage: "the bytes are not valid at byte \(damage.offset)"
    case let error as DecodingError: error.words
    default: "\(error)"
    }
  }
}

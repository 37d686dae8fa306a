import Files
import FoundationEssentials
import StoreEngine

/// A reader of the values in an index key, in the order in which they were written.
struct KeyReader {
  /// The key: the mark, the values and the row.
  private(set) var bytes: [UInt8] = []
  private(set) var offset = 0
  /// The row of the key.
  private(set) var row: UInt32 = 0

  /// Starts with the first value of another key.
  mutating func show(_ key: RawSpan) {
    // Most keys have the length of the one before, so that only their bytes are copied.
    bytes.replaceAll(from: 0, copying: key)
    row = RegisteredIndex.row(key)
    // Skips the mark.
    offset = 1
  }

  /// Moves back to the first value.
  mutating func rewind() { offset = 1 }

  /// Skips some bytes if they come next.
  @inline(__always)
  mutating func skip(_ expected: [UInt8]) -> Bool {
    let end = offset + expected.count
    guard end <= bytes.count, !expected.isEmpty else { return false }
    // The last bytes differ most often.
    for index in expected.indices.reversed() where bytes[offset + index] != expected[index] {
      return false
    }
    offset = end
    return true
  }

  /// Skips a number of bytes; returns false if there are fewer.
  mutating func skip(count: Int) -> Bool {
    guard offset + count <= bytes.count else { return false }
    offset += count
    return true
  }

  /// Reads the bits of a number of some bytes, the most significant byte first.
  mutating func bits(_ count: Int) -> UInt64? {
    let end = offset + count
    guard end <= bytes.count else { return nil }
    defer { offset = end }
    // Most numbers have eight bytes.
    if count == 8 { return bytes.lend { [offset] in $0.loadUInt64(at: offset, isBigEndian: true) } }
    var bits: UInt64 = 0
    for index in offset..<end { bits = bits << 8 | UInt64(bytes[index]) }
    return bits
  }

  mutating func byte() -> UInt8? {
    guard offset < bytes.count else { return nil }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// Reads a number, the most significant byte first.
  mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
    _: Number.Type = Number.self
  ) -> Number? {
    let end = offset + Number.bitWidth / 8
    guard end <= bytes.count else { return nil }
    var number: Number = 0
    for index in offset..<end { number = number << 8 | Number(bytes[index]) }
    offset = end
    return number
  }

  /// Reads a byte string of any length, see ``IndexKey``.
  mutating func text() -> [UInt8]? {
    var text: [UInt8] = []
    while let byte = byte() {
      if byte == 0 { return text }
      if byte > 1 {
        text.append(byte)
      } else {
        guard let escaped = self.byte(), escaped > 0 else { return nil }
        text.append(escaped - 1)
      }
    }
    return nil
  }
}

/// A value that can be read from an index key.
private protocol KeyReadable: IndexableValue {
  /// Reads a value; returns nil if the bytes are not valid.
  static func read(_ reader: inout KeyReader) -> Self?
}

/// Returns a closure that reads the values of a type from keys.
///
/// Returns nil for a type that only writes keys: the values have to be read from the objects.
func keyReading<Value: IndexableValue>(_: Value.Type) -> ((inout KeyReader) -> Value?)? {
  func known<Known: KeyReadable>(_: Known.Type) -> ((inout KeyReader) -> Value?)? {
    { reader in Known.read(&reader) as? Value }
  }
  if let type = Value.self as? any KeyReadable.Type { return known(type) }
  if let type = Value.self as? any PartlyReadable.Type {
    return type.anyReading() as? (inout KeyReader) -> Value?
  }
  guard let type = Value.self as? any RawRepresentable.Type else { return nil }
  return rawReading(type)
}

/// Returns a closure that reads an enumeration from the key of its raw value.
///
/// The enumeration may write keys of another form. So a value is valid only if it writes the same
/// bytes.
private func rawReading<Raw: RawRepresentable, Value: IndexableValue>(
  _: Raw.Type
) -> ((inout KeyReader) -> Value?)? {
  func open<Known: KeyReadable>(_: Known.Type) -> (inout KeyReader) -> Value? {
    { reader in
      let start = reader.offset
      guard let raw = Known.read(&reader) as? Raw.RawValue,
        let value = Raw(rawValue: raw) as? Value,
        reader.bytes[start..<reader.offset].elementsEqual(IndexKey(value).bytes)
      else { return nil }
      return value
    }
  }
  return (Raw.RawValue.self as? any KeyReadable.Type).map { open($0) }
}

/// An optional, which can be read from keys if its wrapped type can.
private protocol PartlyReadable {
  /// Returns a closure as ``keyReading(_:)`` does.
  static func anyReading() -> Any?
}

extension Optional: PartlyReadable where Wrapped: IndexableValue {
  fileprivate static func anyReading() -> Any? {
    guard let read = keyReading(Wrapped.self) else { return nil }
    let reading = { (reader: inout KeyReader) -> Wrapped?? in
      switch reader.byte() {
      case 0: .some(nil)
      case 1: read(&reader).map { .some($0) }
      default: nil
      }
    }
    return reading
  }
}

// MARK: - Values

extension KeyReadable where Self: FixedWidthInteger & UnsignedInteger {
  fileprivate static func read(_ reader: inout KeyReader) -> Self? { reader.number() }
}

extension KeyReadable where Self: FixedWidthInteger & SignedInteger, Magnitude: UnsignedInteger {
  fileprivate static func read(_ reader: inout KeyReader) -> Self? {
    reader.number(Magnitude.self).map {
      Self(truncatingIfNeeded: $0 ^ (1 << Magnitude(bitWidth - 1)))
    }
  }
}

extension UInt8: KeyReadable {}
extension UInt16: KeyReadable {}
extension UInt32: KeyReadable {}
extension UInt64: KeyReadable {}
extension Int8: KeyReadable {}
extension Int16: KeyReadable {}
extension Int32: KeyReadable {}
extension Int64: KeyReadable {}

extension Int: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> Int? {
    Int64.read(&reader).flatMap { Int(exactly: $0) }
  }
}

extension UInt: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> UInt? {
    UInt64.read(&reader).flatMap { UInt(exactly: $0) }
  }
}

extension Bool: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> Bool? { reader.byte().map { $0 == 1 } }
}

extension Double: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> Double? {
    reader.number(UInt64.self).map { bits in
      Double(bitPattern: bits >> 63 == 1 ? bits ^ 1 << 63 : ~bits)
    }
  }
}

extension Float: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> Float? {
    reader.number(UInt32.self).map { bits in
      Float(bitPattern: bits >> 31 == 1 ? bits ^ 1 << 31 : ~bits)
    }
  }
}

extension Date: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> Date? {
    Double.read(&reader).map { Date(timeIntervalSinceReferenceDate: $0) }
  }
}

extension UUID: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> UUID? {
    guard let high = reader.number(UInt64.self), let low = reader.number(UInt64.self) else {
      return nil
    }
    return UUID(high: high, low: low)
  }
}

extension Data: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> Data? {
    reader.text().map { Data($0) }
  }
}

extension String: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> String? {
    reader.text().flatMap { String(validating: $0, as: UTF8.self) }
  }
}

extension FoldedString: KeyReadable {
  fileprivate static func read(_ reader: inout KeyReader) -> FoldedString? {
    String.read(&reader).map { FoldedString(folded: $0) }
  }
}

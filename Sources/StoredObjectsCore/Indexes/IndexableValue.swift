public import FoundationEssentials
import StoreEngine

/// A value that can be in an index: one that can be written as bytes in the order of its values.
///
/// These types conform: integers, floating-point numbers, `Decimal`, `Bool`, `String`,
/// ``FoldedString``, ``AlphabeticString``, `Date`, `UUID`, `URL`, `Data`, enumerations with such raw
/// values, references to objects, and optionals of all of these. To make a type of your own conform,
/// write a value that does:
///
///     extension Year: IndexableValue {
///       public func writeKey(to key: inout IndexKey) { number.writeKey(to: &key) }
///     }
///
/// Two values must write the same bytes if and only if they are equal. The bytes of a value must
/// not be a prefix of those of another.
public protocol IndexableValue {
  /// Appends the value to a key.
  ///
  /// Complexity: linear in the number of bytes that it appends.
  func writeKey(to key: inout IndexKey)
}

/// The bytes by which an index or a sort orders values.
public struct IndexKey: Sendable {
  /// The bytes so far.
  public internal(set) var bytes: [UInt8] = []

  /// Creates an empty key.
  public init() {}

  init(_ value: some IndexableValue) { value.writeKey(to: &self) }

  /// Appends a number in big-endian order.
  mutating func write<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }

  /// Appends a variable number of bytes with a terminator.
  ///
  /// The terminator 0 is less than all bytes; the bytes 0 and 1 are escaped as two bytes.
  mutating func write(text: some Collection<UInt8>) {
    if text.allSatisfy({ $0 > 1 }) {
      bytes.append(contentsOf: text)
      bytes.append(0)
      return
    }
    for byte in text {
      if byte > 1 {
        bytes.append(byte)
      } else {
        bytes.append(1)
        bytes.append(byte + 1)
      }
    }
    bytes.append(0)
  }
}

extension IndexableValue where Self: FixedWidthInteger & UnsignedInteger {
  /// Appends the number.
  public func writeKey(to key: inout IndexKey) { key.write(self) }
}

extension IndexableValue where Self: FixedWidthInteger & SignedInteger, Magnitude: UnsignedInteger {
  /// Appends the number; negative numbers come first.
  public func writeKey(to key: inout IndexKey) {
    key.write(Magnitude(truncatingIfNeeded: self) ^ (1 << Magnitude(bitWidth - 1)))
  }
}

extension UInt8: IndexableValue {}
extension UInt16: IndexableValue {}
extension UInt32: IndexableValue {}
extension UInt64: IndexableValue {}
extension Int8: IndexableValue {}
extension Int16: IndexableValue {}
extension Int32: IndexableValue {}
extension Int64: IndexableValue {}

extension Int: IndexableValue {
  /// Appends the number in 64 bits on every machine; negative numbers come first.
  public func writeKey(to key: inout IndexKey) { Int64(self).writeKey(to: &key) }
}

extension UInt: IndexableValue {
  /// Appends the number in 64 bits on every machine.
  public func writeKey(to key: inout IndexKey) { UInt64(self).writeKey(to: &key) }
}

extension Bool: IndexableValue {
  /// Appends the value; false comes before true.
  public func writeKey(to key: inout IndexKey) { key.bytes.append(self ? 1 : 0) }
}

extension Double: IndexableValue {
  /// Appends the number; both zeros are equal, and all NaN values come last.
  public func writeKey(to key: inout IndexKey) {
    let bits = isNaN ? Double.nan.bitPattern : self == 0 ? 0 : bitPattern
    key.write(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
  }
}

extension Float: IndexableValue {
  /// Appends the number; both zeros are equal, and all NaN values come last.
  public func writeKey(to key: inout IndexKey) {
    let bits = isNaN ? Float.nan.bitPattern : self == 0 ? 0 : bitPattern
    key.write(bits >> 31 == 1 ? ~bits : bits | 1 << 31)
  }
}

extension Date: IndexableValue {
  /// Appends the point in time.
  public func writeKey(to key: inout IndexKey) {
    timeIntervalSinceReferenceDate.writeKey(to: &key)
  }
}

extension UUID: IndexableValue {
  /// Appends the 16 bytes.
  public func writeKey(to key: inout IndexKey) {
    let all = uuid
    key.bytes += [
      all.0, all.1, all.2, all.3, all.4, all.5, all.6, all.7, all.8, all.9, all.10, all.11, all.12,
      all.13, all.14, all.15,
    ]
  }
}

extension Data: IndexableValue {
  /// Appends the bytes.
  public func writeKey(to key: inout IndexKey) { key.write(text: self) }
}

extension Optional: IndexableValue where Wrapped: IndexableValue {
  /// Appends the value; nil comes before all others.
  public func writeKey(to key: inout IndexKey) {
    guard let value = self else { return key.bytes.append(0) }
    key.bytes.append(1)
    value.writeKey(to: &key)
  }
}

extension IndexableValue where Self: RawRepresentable, RawValue: IndexableValue {
  /// Appends the raw value.
  public func writeKey(to key: inout IndexKey) { rawValue.writeKey(to: &key) }
}

extension StoredObject: IndexableValue {
  /// Appends the class ID and the row ID, which is the order of insertion.
  public func writeKey(to key: inout IndexKey) {
    key.bytes.append(registration?.classID ?? .max)
    key.write(rowID)
  }
}

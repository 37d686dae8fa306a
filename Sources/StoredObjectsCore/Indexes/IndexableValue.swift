public import FoundationEssentials
import StoreEngine

/// A value that an index can hold: one that can be written as bytes in the order of the values.
///
/// Integers, floating-point numbers, `Decimal`, `Bool`, `String`, ``FoldedString``, `Date`, `UUID`,
/// `URL`, `Data`, enumerations with such raw values, references to objects, and optionals of all these
/// can. A type of your own is
/// made so by writing something that can:
///
///     extension Year: IndexableValue {
///       public func writeKey(to key: inout IndexKey) { number.writeKey(to: &key) }
///     }
///
/// Two values must write the same bytes when they are equal, and only then, and the bytes of no
/// value may begin those of another.
public protocol IndexableValue {
  /// Appends the value.
  func writeKey(to key: inout IndexKey)
}

/// The bytes by which an index, or a sort, puts values in order.
public struct IndexKey: Sendable {
  /// The bytes so far.
  public internal(set) var bytes: [UInt8] = []

  /// Begins an empty key.
  public init() {}

  init(_ value: some IndexableValue) { value.writeKey(to: &self) }

  /// Appends a number, the highest byte first.
  mutating func write<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }

  /// Appends bytes of which there may be any number: an end that is below all of them, and what
  /// would be confused with it in two bytes.
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
  /// Appends the number, negative ones first.
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
  /// Appends the number in 64 bits on every machine, negative ones first.
  public func writeKey(to key: inout IndexKey) { Int64(self).writeKey(to: &key) }
}

extension UInt: IndexableValue {
  /// Appends the number in 64 bits on every machine.
  public func writeKey(to key: inout IndexKey) { UInt64(self).writeKey(to: &key) }
}

extension Bool: IndexableValue {
  /// Appends false before true.
  public func writeKey(to key: inout IndexKey) { key.bytes.append(self ? 1 : 0) }
}

extension Double: IndexableValue {
  /// Appends the number: both zeros are one, and NaN, of whatever kind, is behind all others.
  public func writeKey(to key: inout IndexKey) {
    let bits = isNaN ? Double.nan.bitPattern : self == 0 ? 0 : bitPattern
    key.write(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
  }
}

extension Float: IndexableValue {
  /// Appends the number: both zeros are one, and NaN, of whatever kind, is behind all others.
  public func writeKey(to key: inout IndexKey) {
    let bits = isNaN ? Float.nan.bitPattern : self == 0 ? 0 : bitPattern
    key.write(bits >> 31 == 1 ? ~bits : bits | 1 << 31)
  }
}

extension Date: IndexableValue {
  /// Appends the moment.
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
  /// Appends the value; nil is before all others.
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
  /// Appends the class and the row, which is the order of insertion.
  public func writeKey(to key: inout IndexKey) {
    key.bytes.append(registration?.classID ?? .max)
    key.write(rowID)
  }
}

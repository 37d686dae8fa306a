package import StoredObjectsCore

/// The raw value of a case, in a form that is equal for values that Swift can't tell apart.
enum RawValue: Hashable, CustomStringConvertible {
  case text(String)
  case integer(Int128)
  case number(Double)

  /// The value as a literal.
  var description: String {
    switch self {
    case .text(let text): SwiftNames.literal(text)
    case .integer(let integer): "\(integer)"
    case .number(let number): "\(number)"
    }
  }

  /// Returns the bytes in a record.
  func bytes(_ rawType: StoredType) -> [UInt8] {
    var buffer = DataBuffer()
    switch self {
    case .text(let text): buffer.write(text)
    case .integer(let integer):
      let count = rawType.byteCount ?? 0
      return (0..<count).map { UInt8(truncatingIfNeeded: integer >> (8 * $0)) }
    case .number(let number):
      if rawType == .float { buffer.write(Float(number)) } else { buffer.write(number) }
    }
    return buffer.bytes
  }
}

extension StoredType {
  /// Returns the raw type that has a name, such as `Int8`; nil if it can't be the type of raw values.
  package static func rawType(named name: String) -> StoredType? { rawTypes[name] }

  /// The types that raw values can have, by their names.
  static let rawTypes: [String: StoredType] = {
    var types: [String: StoredType] = [
      "String": .string, "Float": .float, "Double": .double,
      "Int": .integer(bitCount: 64, isSigned: true),
      "UInt": .integer(bitCount: 64, isSigned: false),
    ]
    for bitCount: UInt8 in [8, 16, 32, 64] {
      types["Int\(bitCount)"] = .integer(bitCount: bitCount, isSigned: true)
      types["UInt\(bitCount)"] = .integer(bitCount: bitCount, isSigned: false)
    }
    return types
  }()

  /// Returns whether an integer type has a value.
  func holds(_ value: Int128) -> Bool {
    guard case .integer(let bitCount, let isSigned) = self else { return false }
    let half = Int128(1) << (Int128(bitCount) - 1)
    return isSigned ? (-half..<half).contains(value) : (0..<2 * half).contains(value)
  }
}

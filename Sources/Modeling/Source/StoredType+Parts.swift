import RecordBrowsing
package import StoredObjectsCore

extension StoredType {
  /// The types that this type consists of, starting with itself.
  package var parts: [StoredType] {
    switch self {
    case .optional(let type), .array(let type), .set(let type): [self] + type.parts
    case .dictionary(let key, let value): [self] + key.parts + value.parts
    case .enumeration(let enumeration): [self] + enumeration.rawType.parts
    default: [self]
    }
  }

  /// The class that a property of the type refers to, and whether it refers to several objects; nil
  /// for values.
  package var target: (className: String, isToMany: Bool)? {
    referenceForm.map { ($0.className ?? "StoredObject", $0.isList) }
  }
}

extension StoredEnumeration.Case {
  /// Returns the raw value as a literal; nil if the type has none.
  package func literal(_ rawType: StoredType) -> String? {
    var buffer = DataBuffer(bytes)
    return switch rawType {
    case .integer(_, let isSigned): Self.integer(bytes, isSigned).map { "\($0)" }
    case .string: (try? buffer.readString()).map(SwiftNames.literal)
    case .float: (try? Float(from: &buffer)).flatMap { $0.isFinite ? "\($0)" : nil }
    case .double: (try? Double(from: &buffer)).flatMap { $0.isFinite ? "\($0)" : nil }
    default: nil
    }
  }

  /// Returns a little-endian integer of up to 8 bytes.
  static func integer(_ bytes: [UInt8], _ isSigned: Bool) -> Int128? {
    guard (1...8).contains(bytes.count), let last = bytes.last else { return nil }
    let value = bytes.reversed().reduce(Int128(0)) { $0 << 8 | Int128($1) }
    return isSigned && last >= 0x80 ? value - (Int128(1) << (8 * bytes.count)) : value
  }
}

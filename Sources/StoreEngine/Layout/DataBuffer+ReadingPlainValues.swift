import Files
import FoundationEssentials

/// Provides the values of references in records, and the contents of external values.
package protocol ReferenceReading {
  /// Returns the value that represents a reference to a row of a class.
  func value(of className: String, row: UInt32) throws -> StoredValue
  /// Returns the name of a class; nil if no class has the ID.
  func className(of classID: UInt8) -> String?
  /// Returns the Base64 of a value outside of the record, or a text that represents it.
  func text(of external: ExternalReference) throws -> String
}

extension DataBuffer {
  /// Reads a value of a record as one that JSON can represent.
  ///
  /// Complexity: linear in the bytes of the value.
  ///
  /// - Throws: ``DataBufferError``, or an error of the references.
  package mutating func readPlain(
    _ type: StoredType, _ references: some ReferenceReading
  ) throws -> StoredValue {
    switch type {
    case .bool: .bool(try readBool())
    case .integer(let bitCount, let isSigned): try readPlainInteger(bitCount, isSigned)
    case .float: .plain(try readFloat())
    case .double: .plain(try readDouble())
    case .string: .string(try readString())
    case .data, .array(.byte): .base64(try readBytes())
    case .external: try readPlainExternal(references)
    case .date: .plain(try readDate())
    case .uuid: .string(try readUUID().uuidString)
    case .optional(let wrapped): try readPlainOptional(wrapped, references)
    case .array(let element), .set(let element):
      .array(StoredValue.Elements(try readPlainElements(element, references)))
    case .dictionary(.string, let value): try readPlainFields(value, references)
    case .dictionary(let key, let value): try readPlainPairs(key, value, references)
    case .enumeration(let enumeration): try readPlainCase(enumeration, references)
    case .codable: try readPlainCodable()
    case .reference(let name): try readPlainReference(name, references)
    case .references(let name), .referenceSet(let name):
      .array(StoredValue.Elements(try readPlainReferences(name, references)))
    case .anyReference: try readPlainReference(references)
    case .anyReferences, .anyReferenceSet:
      .array(StoredValue.Elements(try readPlainElements(.anyReference, references)))
    case .custom(let name):
      throw DataBufferError(
        .invalidValue, at: offset,
        "only the code of \(name) can read its values")
    }
  }

  private mutating func readPlainInteger(
    _ bitCount: UInt8, _ isSigned: Bool
  ) throws -> StoredValue {
    switch (bitCount, isSigned) {
    case (8, false): .int(Int64(try readUInt8()))
    case (16, false): .int(Int64(try readUInt16()))
    case (32, false): .int(Int64(try readUInt32()))
    case (_, false): try StoredValue(try readUInt64())
    case (8, _): .int(Int64(try readInt8()))
    case (16, _): .int(Int64(try readInt16()))
    case (32, _): .int(Int64(try readInt32()))
    default: .int(try readInt64())
    }
  }

  private mutating func readPlainExternal(
    _ references: some ReferenceReading
  ) throws -> StoredValue {
    switch try ExternalContent(from: &self) {
    case .inline(let bytes): .base64(bytes)
    case .outside(let reference): .string(try references.text(of: reference))
    }
  }

  /// Reads an optional, with null for nil.
  ///
  /// A wrapped value that could be mistaken for null, or for this form itself, becomes a dictionary
  /// with the only name "some".
  private mutating func readPlainOptional(
    _ wrapped: StoredType, _ references: some ReferenceReading
  ) throws -> StoredValue {
    guard try readBool() else { return .null }
    let value = try readPlain(wrapped, references)
    switch value {
    case .null: break
    case .dictionary(let fields) where fields.keys == [StoredType.some]: break
    default: return value
    }
    return .dictionary(StoredValue.Fields(names: [StoredType.some], values: [value]))
  }

  private mutating func readPlainElements(
    _ element: StoredType, _ references: some ReferenceReading
  ) throws -> [StoredValue] {
    let count = try readCount(minimumElementSize: element.byteCount ?? 1)
    var values: [StoredValue] = []
    values.reserveCapacity(min(count, 1 << 16))
    for _ in 0..<count { values.append(try readPlain(element, references)) }
    return values
  }

  private mutating func readPlainFields(
    _ value: StoredType, _ references: some ReferenceReading
  ) throws -> StoredValue {
    var fields: [(String, StoredValue)] = []
    for _ in 0..<(try readCount(minimumElementSize: 5)) {
      fields.append((try readString(), try readPlain(value, references)))
    }
    return .dictionary(StoredValue.Fields(fields))
  }

  private mutating func readPlainPairs(
    _ key: StoredType, _ value: StoredType, _ references: some ReferenceReading
  ) throws -> StoredValue {
    var pairs: [StoredValue] = []
    for _ in 0..<(try readCount(minimumElementSize: 2)) {
      let key = try readPlain(key, references)
      pairs.append([key, try readPlain(value, references)])
    }
    return .array(StoredValue.Elements(pairs))
  }

  /// Reads the name of a case.
  ///
  /// A raw value without a name becomes a dictionary with the only name "raw".
  private mutating func readPlainCase(
    _ enumeration: StoredEnumeration, _ references: some ReferenceReading
  ) throws -> StoredValue {
    let first = position
    let raw = try readPlain(enumeration.rawType, references)
    if enumeration.cases.isEmpty { return raw }
    let bytes = storage[first..<position]
    if let known = enumeration.cases.first(where: { bytes.elementsEqual($0.bytes) }) {
      return .string(known.name)
    }
    return .dictionary(StoredValue.Fields(names: [StoredType.raw], values: [raw]))
  }

  private mutating func readPlainCodable() throws -> StoredValue {
    let start = offset
    let bytes = try readBytes()
    if PropertyListReader.isList(bytes) {
      return .dictionary(
        StoredValue.Fields(names: [StoredType.propertyList], values: [.base64(bytes)]))
    }
    do {
      return try bytes.lend { try ValueReader.value(in: $0) }.plainCodable
    } catch let damage as ValueFormat.Damage {
      throw DataBufferError(
        .invalidValue, at: start + 4 + damage.offset, "the bytes of a Codable value are not valid")
    }
  }
}

// MARK: - References

extension DataBuffer {
  private mutating func readPlainReference(
    _ className: String, _ references: some ReferenceReading
  ) throws -> StoredValue {
    let row = try readUInt32()
    if row == ClassMetadata.rowID { return try readPlainReference(references) }
    return row == 0 ? .null : try references.value(of: className, row: row)
  }

  private mutating func readPlainReference(
    _ references: some ReferenceReading
  ) throws -> StoredValue {
    let start = offset
    let (classID, row) = (try readUInt8(), try readUInt32())
    if row == 0 { return .null }
    guard let name = references.className(of: classID) else {
      throw DataBufferError(.unknownClass, at: start, "no class has the ID \(classID)")
    }
    return try references.value(of: name, row: row)
  }

  private mutating func readPlainReferences(
    _ className: String, _ references: some ReferenceReading
  ) throws -> [StoredValue] {
    let (count, hasClasses) = try readReferenceCount()
    var values: [StoredValue] = []
    values.reserveCapacity(min(count, 1 << 16))
    for _ in 0..<count {
      values.append(
        hasClasses
          ? try readPlainReference(references)
          : try readPlainReference(className, references))
    }
    return values
  }
}

extension StoredType {
  // Names that distinguish special forms from usual ones.
  static let some = "some"
  static let raw = "raw"
  static let propertyList = "$propertyList"
  package static let bytes = "bytes"

  static var byte: StoredType { .integer(bitCount: 8, isSigned: false) }
}

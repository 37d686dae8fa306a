import FoundationEssentials

/// Provides the rows of references in values, and the storage of large values.
package protocol ReferenceWriting {
  /// Returns the class ID and the row of a reference.
  ///
  /// - Parameters:
  ///   - value: A value that isn't null.
  ///   - className: The declared class of the property; nil for any class.
  /// - Returns: nil to leave out the reference: the property has no object, the list is shorter.
  /// - Throws: ``ValueFailure`` for a value that is not a reference, or refers to the wrong class.
  mutating func location(
    of value: StoredValue, in className: String?
  ) throws -> (classID: UInt8, row: UInt32)?
  /// Returns the ID of a class; nil if there is no such class.
  func classID(of className: String) -> UInt8?
  /// Returns the part of a record that holds an external value; nil if the value is not Base64.
  mutating func content(of external: StoredValue) throws -> ExternalContent?
  /// Returns the value with the full texts in place of their placeholders, see ``LargeTexts``.
  func whole(_ value: StoredValue) throws -> StoredValue
}

extension DataBuffer {
  /// Writes a value of the form that ``readPlain(_:_:)`` returns.
  ///
  /// - Throws: ``ValueFailure`` for a value of another type, or one out of range.
  package mutating func writePlain<References: ReferenceWriting>(
    _ value: StoredValue, as type: StoredType, _ references: inout References
  ) throws {
    let value = type.isExternal ? value : try references.whole(value)
    switch type {
    case .bool: try writePlain(value.plainBool.map { $0 ? 1 as UInt8 : 0 }, value, type)
    case .integer(let bitCount, let isSigned):
      try writePlainInteger(value, bitCount, isSigned, type)
    case .float: try writePlain(value.plainFloat, value, type)
    case .double: try writePlain(value.plainDouble, value, type)
    case .string: try writePlain(value.plainString, value, type)
    case .data: try writePlain(value.plainBytes, value, type)
    case .external:
      guard let content = try references.content(of: value) else { throw mismatch(value, type) }
      content.write(to: &self)
    case .array(.byte) where value.plainString != nil:
      try writePlain(value.plainBytes, value, type)
    case .date: try writePlain(value.plainDate, value, type)
    case .uuid: try writePlain(value.plainString.flatMap { UUID(uuidString: $0) }, value, type)
    case .optional(let wrapped): try writePlainOptional(value, wrapped, &references)
    case .array(let element), .set(let element):
      let elements = try elements(value, type)
      writeCount(elements.count)
      try ValueFailure.forEach(elements) { try writePlain($0, as: element, &references) }
    case .dictionary(let key, let element):
      try writePlainDictionary(value, key, element, type, &references)
    case .enumeration(let enumeration): try writePlainCase(value, enumeration, &references)
    case .codable: try writePlainCodable(value)
    case .reference(let name): try writePlainReference(value, name, &references)
    case .anyReference: try writePlainReference(value, nil, &references)
    case .references(let name), .referenceSet(let name):
      try writePlainReferences(try elements(value, type), name, &references)
    case .anyReferences, .anyReferenceSet:
      try writePlainReferences(try elements(value, type), nil, &references)
    case .custom: throw ValueFailure("Only the code of \(type) can write its values.")
    }
  }

  private func mismatch(_ value: StoredValue, _ type: StoredType) -> ValueFailure {
    ValueFailure("The value is \(value.kind): \(type) was expected.")
  }

  private mutating func writePlain(
    _ known: (some DataBufferValue)?, _ value: StoredValue, _ type: StoredType
  ) throws {
    guard let known else { throw mismatch(value, type) }
    known.write(to: &self)
  }

  private mutating func writePlain(
    _ bytes: [UInt8]?, _ value: StoredValue, _ type: StoredType
  ) throws {
    guard let bytes else { throw mismatch(value, type) }
    write(bytes)
  }

  private func elements(
    _ value: StoredValue, _ type: StoredType
  ) throws -> StoredValue.Elements {
    guard case .array(let elements) = value else { throw mismatch(value, type) }
    return elements
  }

  private mutating func writePlainInteger(
    _ value: StoredValue, _ bitCount: UInt8, _ isSigned: Bool, _ type: StoredType
  ) throws {
    guard let number = value.plainInteger else { throw mismatch(value, type) }
    let bits = Int128(bitCount)
    let range =
      isSigned
      ? -(1 << (bits - 1))...(1 << (bits - 1)) - 1 as ClosedRange<Int128> : 0...(1 << bits) - 1
    guard range.contains(number) else {
      throw ValueFailure("A number is out of range: \(type) was expected.")
    }
    for byte in 0..<bits / 8 { write(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
  }

  private mutating func writePlainOptional<References: ReferenceWriting>(
    _ value: StoredValue, _ wrapped: StoredType, _ references: inout References
  ) throws {
    if case .null = value { return write(false) }
    write(true)
    if case .dictionary(let fields) = value, fields.keys == [StoredType.some] {
      return try writePlain(fields[0].value, as: wrapped, &references)
    }
    try writePlain(value, as: wrapped, &references)
  }

  private mutating func writePlainDictionary<References: ReferenceWriting>(
    _ value: StoredValue, _ key: StoredType, _ element: StoredType, _ type: StoredType,
    _ references: inout References
  ) throws {
    if key == .string, case .dictionary(let fields) = value {
      writeCount(fields.count)
      for (name, value) in fields {
        write(name)
        try ValueFailure.inside(".\(name)") { try writePlain(value, as: element, &references) }
      }
      return
    }
    let pairs = try elements(value, type)
    writeCount(pairs.count)
    try ValueFailure.forEach(pairs) { pair in
      guard case .array(let pair) = pair, pair.count == 2 else {
        throw ValueFailure("A dictionary is an array of pairs, each an array of key and value.")
      }
      try ValueFailure.inside("[0]") { try writePlain(pair[0], as: key, &references) }
      try ValueFailure.inside("[1]") { try writePlain(pair[1], as: element, &references) }
    }
  }

  private mutating func writePlainCase<References: ReferenceWriting>(
    _ value: StoredValue, _ enumeration: StoredEnumeration, _ references: inout References
  ) throws {
    if case .dictionary(let fields) = value, fields.keys == [StoredType.raw] {
      return try writePlain(fields[0].value, as: enumeration.rawType, &references)
    }
    guard case .string(let name) = value, !enumeration.cases.isEmpty else {
      return try writePlain(value, as: enumeration.rawType, &references)
    }
    guard let known = enumeration.cases.first(where: { $0.name == name }) else {
      throw ValueFailure("\(enumeration.name) has no case of that name.")
    }
    append(known.bytes)
  }

  private mutating func writePlainCodable(_ value: StoredValue) throws {
    if case .dictionary(let fields) = value, fields.keys == [StoredType.propertyList],
      let list = fields[0].value.plainBytes, PropertyListReader.isList(list)
    {
      return write(list)
    }
    var bytes: [UInt8] = []
    try ValueFormat.append(try value.codableOfPlain(), to: &bytes)
    write(bytes)
  }
}

// MARK: - References

extension DataBuffer {
  private mutating func writePlainReference<References: ReferenceWriting>(
    _ value: StoredValue, _ className: String?, _ references: inout References
  ) throws {
    let isNull = if case .null = value { true } else { false }
    let location = isNull ? nil : try references.location(of: value, in: className)
    guard let className else { return writeQualified(location ?? (0, 0)) }
    guard let location else { return write(0 as UInt32) }
    if references.classID(of: className) == location.classID { return write(location.row) }
    write(ClassMetadata.rowID)
    writeQualified(location)
  }

  private mutating func writeQualified(_ location: (classID: UInt8, row: UInt32)) {
    write(location.classID)
    write(location.row)
  }

  private mutating func writePlainReferences<References: ReferenceWriting>(
    _ values: StoredValue.Elements, _ className: String?, _ references: inout References
  ) throws {
    var locations: [(classID: UInt8, row: UInt32)] = []
    locations.reserveCapacity(values.count)
    try ValueFailure.forEach(values) { value in
      if case .null = value { throw ValueFailure("A list of objects can't have null.") }
      if let location = try references.location(of: value, in: className) {
        locations.append(location)
      }
    }
    writeCount(locations.count)
    guard let className else { return locations.forEach { writeQualified($0) } }
    let classID = references.classID(of: className)
    if locations.allSatisfy({ $0.classID == classID }) {
      return locations.forEach { write($0.row) }
    }
    write(ClassMetadata.rowID)
    locations.forEach { writeQualified($0) }
  }
}

extension StoredValue {
  fileprivate var plainBool: Bool? { if case .bool(let value) = self { value } else { nil } }
  fileprivate var plainString: String? { if case .string(let text) = self { text } else { nil } }

  fileprivate var plainInteger: Int128? {
    switch self {
    case .int(let number): Int128(number)
    case .unsigned(let number): Int128(number)
    case .double(let number): Int128(exactly: number)
    default: nil
    }
  }
}

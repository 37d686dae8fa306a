// A type is written as a tag and the fields of that tag. DataBufferFormat.md has the table.

extension StoredType: DataBufferValue {
  /// The maximum nesting of types in a store.
  package static let maximumDepth = 32

  /// Reads a type.
  ///
  /// - Throws: ``DataBufferError`` with `invalidValue` for an unknown tag, an integer of an unknown
  ///   width, or types that are nested more than 32 deep.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    try self.init(from: &buffer, depth: 0)
  }

  private init(from buffer: inout DataBuffer, depth: Int) throws(DataBufferError) {
    let offset = buffer.offset
    guard depth < Self.maximumDepth else {
      throw DataBufferError(.invalidValue, at: offset, "types are nested too deep")
    }
    func part(_ buffer: inout DataBuffer) throws(DataBufferError) -> StoredType {
      try StoredType(from: &buffer, depth: depth + 1)
    }
    switch try buffer.readUInt8() {
    case 0: self = .bool
    case 1: self = try Self.integer(from: &buffer, isSigned: false)
    case 2: self = try Self.integer(from: &buffer, isSigned: true)
    case 3: self = .float
    case 4: self = .double
    case 5: self = .string
    case 6: self = .data
    case 7: self = .date
    case 8: self = .uuid
    case 9: self = .optional(try part(&buffer))
    case 10: self = .array(try part(&buffer))
    case 11: self = .set(try part(&buffer))
    case 12: self = .dictionary(key: try part(&buffer), value: try part(&buffer))
    case 13:
      let rawType = try part(&buffer)
      self = .enumeration(try StoredEnumeration(rawType, from: &buffer))
    case 14: self = .codable(try buffer.readString())
    case 15: self = .reference(try buffer.readString())
    case 16: self = .references(try buffer.readString())
    case 17: self = .referenceSet(try buffer.readString())
    case 18: self = .anyReference
    case 19: self = .anyReferences
    case 20: self = .anyReferenceSet
    case 21: self = .custom(try buffer.readString())
    case 22: self = .external
    case let tag: throw DataBufferError(.invalidValue, at: offset, "\(tag) is not a type")
    }
  }

  private static func integer(
    from buffer: inout DataBuffer, isSigned: Bool
  ) throws(DataBufferError) -> StoredType {
    let offset = buffer.offset
    let bitCount = try buffer.readUInt8()
    guard [8, 16, 32, 64].contains(bitCount) else {
      throw DataBufferError(.invalidValue, at: offset, "an integer can't have \(bitCount) bits")
    }
    return .integer(bitCount: bitCount, isSigned: isSigned)
  }

  /// Writes a type.
  public func write(to buffer: inout DataBuffer) {
    buffer.write(tag)
    switch self {
    case .integer(let bitCount, _): buffer.write(bitCount)
    case .optional(let type), .array(let type), .set(let type): type.write(to: &buffer)
    case .dictionary(let key, let value):
      key.write(to: &buffer)
      value.write(to: &buffer)
    case .enumeration(let enumeration): enumeration.write(to: &buffer)
    case .codable(let name), .reference(let name), .references(let name),
      .referenceSet(let name), .custom(let name):
      buffer.write(name)
    default: break
    }
  }

  private var tag: UInt8 {
    switch self {
    case .bool: 0
    case .integer(_, let isSigned): isSigned ? 2 : 1
    case .float: 3
    case .double: 4
    case .string: 5
    case .data: 6
    case .date: 7
    case .uuid: 8
    case .optional: 9
    case .array: 10
    case .set: 11
    case .dictionary: 12
    case .enumeration: 13
    case .codable: 14
    case .reference: 15
    case .references: 16
    case .referenceSet: 17
    case .anyReference: 18
    case .anyReferences: 19
    case .anyReferenceSet: 20
    case .custom: 21
    case .external: 22
    }
  }

  /// A custom form: types are not values of records.
  public static var storedType: StoredType { .custom("StoredType") }
}

extension StoredEnumeration {
  fileprivate init(
    _ rawType: StoredType, from buffer: inout DataBuffer
  ) throws(DataBufferError) {
    let name = try buffer.readString()
    var cases: [Case] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
      cases.append(Case(name: try buffer.readString(), bytes: try buffer.readBytes()))
    }
    self.init(name: name, rawType: rawType, cases: cases)
  }

  fileprivate func write(to buffer: inout DataBuffer) {
    rawType.write(to: &buffer)
    buffer.write(name)
    buffer.writeCount(cases.count)
    for item in cases {
      buffer.write(item.name)
      buffer.write(item.bytes)
    }
  }
}

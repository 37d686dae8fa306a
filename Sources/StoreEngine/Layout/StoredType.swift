/// The form of a value in a record.
///
/// It determines the size and the meaning of a value, so that a record can be read without the
/// class that wrote it. <doc:DataBufferFormat> describes the bytes of each form.
public indirect enum StoredType: Hashable, Sendable {
  /// One byte, 0 or 1.
  case bool
  /// An integer of 8, 16, 32 or 64 bits.
  case integer(bitCount: UInt8, isSigned: Bool)
  /// An IEEE 754 number of 4 bytes.
  case float
  /// An IEEE 754 number of 8 bytes.
  case double
  /// A count and UTF-8.
  case string
  /// A count and bytes.
  case data
  /// Seconds since 2001, 8 bytes.
  case date
  /// The 16 bytes of a UUID.
  case uuid
  /// A byte, 1 before a value and 0 for nil.
  case optional(StoredType)
  /// A count and values, in order.
  case array(StoredType)
  /// A count and values, in no particular order.
  case set(StoredType)
  /// A count and pairs.
  case dictionary(key: StoredType, value: StoredType)
  /// The raw value of one of several named cases.
  case enumeration(StoredEnumeration)
  /// A `Codable` value, as a count and a ``StoredValue``.
  case codable(String)
  /// A row of one class, or 0 for nil; or 1, then the class ID and row of a subclass.
  case reference(String)
  /// A count and rows of one class, in order; or a count, 1, and class IDs with rows.
  case references(String)
  /// A count and rows of one class, each once.
  case referenceSet(String)
  /// A class ID and a row, both 0 for nil.
  case anyReference
  /// A count, and class IDs with rows, in order.
  case anyReferences
  /// A count, and class IDs with rows, each once.
  case anyReferenceSet
  /// A value in the record, or a reference to one outside of it.
  case external
  /// A type with its own form, by its name; only the type itself can read it.
  case custom(String)
}

/// The cases of an enumeration with raw values.
public struct StoredEnumeration: Hashable, Sendable {
  /// The name of the type.
  public var name: String
  /// The form of the raw values.
  public var rawType: StoredType
  /// The cases; empty if their names can't be determined.
  public var cases: [Case]
  /// The former names of cases, each with the present name.
  public var formerNames: [String: String]

  /// A case of an enumeration.
  public struct Case: Hashable, Sendable {
    /// The name in the source.
    public var name: String
    /// The bytes of the raw value in a record.
    public var bytes: [UInt8]

    /// Creates a case.
    public init(name: String, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
  }

  /// Creates the description of an enumeration.
  public init(
    name: String, rawType: StoredType, cases: [Case], formerNames: [String: String] = [:]
  ) {
    (self.name, self.rawType) = (name, rawType)
    (self.cases, self.formerNames) = (cases, formerNames)
  }
}

extension StoredType: CustomStringConvertible {
  /// The type in Swift syntax.
  public var description: String {
    switch self {
    case .bool: "Bool"
    case .integer(let bitCount, let isSigned): "\(isSigned ? "Int" : "UInt")\(bitCount)"
    case .float: "Float"
    case .double: "Double"
    case .string: "String"
    case .data: "Data"
    case .date: "Date"
    case .uuid: "UUID"
    case .optional(let wrapped): "\(wrapped)?"
    case .array(let element): "[\(element)]"
    case .set(let element): "Set<\(element)>"
    case .dictionary(let key, let value): "[\(key): \(value)]"
    case .enumeration(let enumeration): enumeration.name
    case .codable(let name), .custom(let name): name
    case .reference(let name): "\(name)?"
    case .references(let name): "[\(name)]"
    case .referenceSet(let name): "Set<\(name)>"
    case .anyReference: "StoredObject?"
    case .anyReferences: "[StoredObject]"
    case .anyReferenceSet: "Set<StoredObject>"
    case .external: "ExternalData"
    }
  }
}

extension StoredType {
  /// The type without the names that don't affect the bytes of records.
  package var withoutNames: StoredType {
    switch self {
    case .optional(let wrapped): .optional(wrapped.withoutNames)
    case .array(let element): .array(element.withoutNames)
    case .set(let element): .set(element.withoutNames)
    case .dictionary(let key, let value):
      .dictionary(key: key.withoutNames, value: value.withoutNames)
    case .enumeration(let enumeration):
      .enumeration(
        StoredEnumeration(name: "", rawType: enumeration.rawType, cases: enumeration.cases))
    case .codable: .codable("")
    default: self
    }
  }

  /// The number of bytes of every value; nil if it varies.
  package var byteCount: Int? {
    switch self {
    case .bool: 1
    case .integer(let bitCount, _): Int(bitCount) / 8
    case .float: 4
    case .double, .date: 8
    case .uuid: 16
    case .anyReference: 5
    case .enumeration(let enumeration): enumeration.rawType.byteCount
    default: nil
    }
  }

  /// Whether the type or a part of it may be stored outside of records.
  package var isExternal: Bool {
    switch self {
    case .external: true
    case .optional(let type), .array(let type), .set(let type): type.isExternal
    case .dictionary(let key, let value): key.isExternal || value.isExternal
    default: false
    }
  }

  /// Whether the type or a part of it is custom, so that only its own code can skip it.
  package var isOpaque: Bool {
    switch self {
    case .custom: true
    case .optional(let type), .array(let type), .set(let type): type.isOpaque
    case .dictionary(let key, let value): key.isOpaque || value.isOpaque
    default: false
    }
  }
}

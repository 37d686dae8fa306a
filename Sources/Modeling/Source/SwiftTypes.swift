package import StoredObjectsCore

/// The types of a model with names that are valid in Swift source.
package struct SwiftTypes {
  /// The types that the source declares in addition to the classes, in order of appearance.
  private(set) var declared: [StoredType] = []
  /// The classes that others refer to and that have no table in the store.
  private(set) var missingClasses: [String] = []

  private var names = SwiftNames(reserved: SwiftNames.types)
  private var classNames: [String: String] = [:]
  private var typeNames: [StoredType: String] = [:]
  private var hashed: Set<StoredType> = []
  private var indexed: Set<StoredType> = []

  /// Chooses the names of the types of a model.
  package init(_ design: ModelDesign) {
    for known in design.classes { classNames[known.storedName] = names.add(known.name) }
    for enumeration in design.enumerations { add(.enumeration(enumeration)) }
    for known in design.classes {
      let compound = Set(known.compoundIndexes.joined())
      for property in known.properties {
        add(property.type)
        if property.index != .none || compound.contains(property.name) {
          indexed.formUnion(property.type.parts)
        }
      }
    }
  }

  /// The enumerations whose cases can be changed as text, with their names in the source.
  package var enumerations: [StoredEnumeration] {
    declared.compactMap { type in
      guard case .enumeration(var enumeration) = type, enumeration.caseText != nil else {
        return nil
      }
      enumeration.name = name(of: type)
      return enumeration
    }
  }

  /// Returns the name of a class in the source for its name in the store.
  func className(_ storedName: String) -> String { classNames[storedName] ?? storedName }

  /// Returns the name of a type that the source declares.
  func name(of type: StoredType) -> String { typeNames[type] ?? type.description }

  /// Whether values of a type are elements of sets, or keys.
  func isHashed(_ type: StoredType) -> Bool { hashed.contains(type) }

  /// Whether values of a type are in an index.
  func isIndexed(_ type: StoredType) -> Bool { indexed.contains(type) }

  private mutating func add(_ type: StoredType, isHashed: Bool = false) {
    switch type {
    case .optional(let part), .array(let part): add(part, isHashed: isHashed)
    case .set(let part): add(part, isHashed: true)
    case .dictionary(let key, let value):
      add(key, isHashed: true)
      add(value, isHashed: isHashed)
    case .enumeration(let enumeration):
      declare(type, enumeration.name)
      add(enumeration.rawType, isHashed: true)
    case .custom(let name):
      declare(type, name)
      if isHashed { hashed.insert(type) }
    case .codable(let name): addCodable(name, isHashed: isHashed)
    case .reference(let name), .references(let name), .referenceSet(let name):
      if classNames[name] == nil {
        classNames[name] = names.add(name)
        missingClasses.append(name)
      }
    default: break
    }
  }

  private mutating func addCodable(_ name: String, isHashed: Bool) {
    let type = StoredType(codable: name)
    guard type == .codable(name) else { return add(type, isHashed: isHashed) }
    guard Self.foundationDefaults[name] == nil else { return }
    declare(type, name)
    if isHashed { hashed.insert(type) }
  }

  private mutating func declare(_ type: StoredType, _ name: String) {
    guard typeNames[type] == nil else { return }
    typeNames[type] = names.add(name)
    declared.append(type)
  }

  /// `Codable` types that need no stub.
  private static let foundationDefaults = [
    "Int": "0", "UInt": "0", "Decimal": "0", "URL": "URL(fileURLWithPath: \"/\")",
  ]
}

extension SwiftTypes {
  /// Returns the name of a type in the source.
  package func text(_ type: StoredType) -> String {
    switch type {
    case .integer(64, true): "Int"
    case .optional(let wrapped): "\(text(wrapped))?"
    case .array(let element): "[\(text(element))]"
    case .set(let element): "Set<\(text(element))>"
    case .dictionary(let key, let value): "[\(text(key)): \(text(value))]"
    case .enumeration, .custom: name(of: type)
    case .codable(let printed):
      StoredType(codable: printed) == type ? name(of: type) : text(StoredType(codable: printed))
    case .reference(let name): "\(className(name))?"
    case .references(let name): "[\(className(name))]"
    case .referenceSet(let name): "Set<\(className(name))>"
    default: type.description
    }
  }

  /// Returns the value of a new object; nil if Swift has a default.
  func defaultValue(_ type: StoredType) -> String? {
    switch type {
    case .optional, .reference, .anyReference: nil
    case .bool: "false"
    case .integer, .float, .double: "0"
    case .string: "\"\""
    case .data: "Data()"
    case .external: "ExternalData()"
    case .date: "Date(timeIntervalSinceReferenceDate: 0)"
    case .uuid, .custom: "\(text(type))()"
    case .array, .set, .references, .referenceSet, .anyReferences, .anyReferenceSet: "[]"
    case .dictionary: "[:]"
    case .enumeration(let enumeration): defaultValue(type, enumeration)
    case .codable(let printed): codableDefault(type, StoredType(codable: printed), printed)
    }
  }

  private func defaultValue(_ type: StoredType, _ enumeration: StoredEnumeration) -> String {
    if let first = SwiftEnumeration(enumeration)?.cases.first {
      return ".\(SwiftNames.member(first.name))"
    }
    return "\(name(of: type))(rawValue: \(defaultValue(enumeration.rawType) ?? "nil"))"
  }

  private func codableDefault(
    _ type: StoredType, _ parsed: StoredType, _ printed: String
  ) -> String? {
    guard parsed == type else { return defaultValue(parsed) }
    return Self.foundationDefaults[printed] ?? "\(name(of: type))()"
  }
}

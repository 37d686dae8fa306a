package import StoredObjectsCore

/// A reader of the types that a user types, such as `[Song]`, `Date?` and `[String: Double]`.
package struct TypeReader {
  private let types: [String: StoredType]
  private let classes: [String: String]
  private let enumerations: [String: StoredType]
  /// The names of the types that only their own code can read, and that a model can't change.
  package let fixedNames: Set<String>

  /// Creates a reader of the types of a model.
  ///
  /// - Parameters:
  ///   - classes: The names of the classes in the store, by their names in the source.
  ///   - design: A model with other types, such as enumerations, that keep their forms.
  ///   - enumerations: The enumerations instead of those of the model that can be changed; nil to
  ///     keep all.
  package init(
    classes: [String: String], typesOf design: ModelDesign,
    enumerations: [StoredEnumeration]? = nil
  ) {
    self.classes = classes
    let known = SwiftTypes(design)
    let changeable = known.enumerations
    let replaced = Set(changeable.map(\.name))
    let fixed = known.declared.map { (known.name(of: $0), $0) }
      .filter { !replaced.contains($0.0) }
    types = Self.simple.merging(fixed) { first, _ in first }
    fixedNames = Set(fixed.map(\.0))
    self.enumerations = Dictionary(
      (enumerations ?? changeable).map { ($0.name, .enumeration($0)) }
    ) { first, _ in first }
  }

  /// A text that is not a type.
  package struct Failure: Error, CustomStringConvertible {
    /// A description of what to write instead.
    package let description: String
  }

  private static let simple: [String: StoredType] = {
    let others: [String: StoredType] = [
      "Bool": .bool, "Data": .data, "Date": .date, "UUID": .uuid, "URL": .codable("URL"),
      "Decimal": .codable("Decimal"), "ExternalData": .external,
    ]
    return others.merging(StoredType.rawTypes) { first, _ in first }
  }()

  /// The names of all types except for classes and enumerations of the model.
  package var names: [String] { types.keys.sorted() }

  private static let maximumLength = 200
  private static let maximumDepth = 16

  /// Returns the type that a text names.
  ///
  /// Complexity: linear in the length of the text, at most 200 bytes.
  ///
  /// - Throws: ``Failure``.
  package func type(_ text: String) throws(Failure) -> StoredType {
    guard text.utf8.count <= Self.maximumLength else {
      throw Failure(description: "A type has at most \(Self.maximumLength) characters.")
    }
    var rest = text.filter { $0 != " " }[...]
    let part = try part(&rest, depth: 0)
    guard rest.isEmpty else {
      throw Failure(description: "\"\(rest)\" is too much in \"\(text)\".")
    }
    switch part {
    case .value(let type): return type
    case .object(let name):
      throw Failure(description: "An object can be missing: write \(name)?, with a question mark.")
    }
  }

  /// A part of a type: a value, or an object of a class of the source.
  private enum Part {
    case value(StoredType)
    case object(String)
  }

  private func part(_ rest: inout Substring, depth: Int) throws(Failure) -> Part {
    guard depth < Self.maximumDepth else { throw Failure(description: "The type is too deep.") }
    var found =
      rest.first == "[" ? try brackets(&rest, depth: depth) : try named(&rest, depth: depth)
    while rest.first == "?" {
      rest.removeFirst()
      found = try optional(found)
    }
    return found
  }

  private func brackets(_ rest: inout Substring, depth: Int) throws(Failure) -> Part {
    rest.removeFirst()
    let first = try part(&rest, depth: depth + 1)
    if rest.first == ":" {
      rest.removeFirst()
      let second = try part(&rest, depth: depth + 1)
      try take("]", &rest)
      return .value(.dictionary(key: try value(first), value: try value(second)))
    }
    try take("]", &rest)
    return try array(first)
  }

  private func named(_ rest: inout Substring, depth: Int) throws(Failure) -> Part {
    let name = String(rest.prefix { !"[]<>:,?".contains($0) })
    rest.removeFirst(name.count)
    guard rest.first == "<" else { return try simple(name) }
    rest.removeFirst()
    var arguments = [try part(&rest, depth: depth + 1)]
    while rest.first == "," {
      rest.removeFirst()
      arguments.append(try part(&rest, depth: depth + 1))
    }
    try take(">", &rest)
    return try generic(name, arguments)
  }

  private func generic(_ name: String, _ arguments: [Part]) throws(Failure) -> Part {
    switch (name, arguments.count) {
    case ("Optional", 1): try optional(arguments[0])
    case ("Array", 1): try array(arguments[0])
    case ("Set", 1):
      switch arguments[0] {
      case .value(let type): .value(.set(type))
      case .object("StoredObject"): .value(.anyReferenceSet)
      case .object(let name): .value(.referenceSet(stored(name)))
      }
    case ("Dictionary", 2):
      .value(.dictionary(key: try value(arguments[0]), value: try value(arguments[1])))
    default:
      throw Failure(
        description: "There is no type \(name)<…>. Write [T], T?, Set<T> or [Key: Value].")
    }
  }

  private func simple(_ name: String) throws(Failure) -> Part {
    if name == "StoredObject" || classes[name] != nil { return .object(name) }
    if let type = types[name] ?? enumerations[name] { return .value(type) }
    if name.isEmpty { throw Failure(description: "A type is missing.") }
    throw Failure(
      description: """
        There is no type "\(name)". Types are \(names.joined(separator: ", ")), and the classes \
        and enumerations of the model.
        """)
  }

  private func optional(_ part: Part) throws(Failure) -> Part {
    switch part {
    case .object("StoredObject"): return .value(.anyReference)
    case .object(let name): return .value(.reference(stored(name)))
    case .value(.optional), .value(.reference), .value(.anyReference):
      throw Failure(description: "One question mark is enough.")
    case .value(let type):
      guard type.target == nil else {
        throw Failure(description: "A list of objects is empty instead of missing.")
      }
      return .value(.optional(type))
    }
  }

  private func array(_ part: Part) throws(Failure) -> Part {
    switch part {
    case .object("StoredObject"): return .value(.anyReferences)
    case .object(let name): return .value(.references(stored(name)))
    case .value(let type):
      guard type.target == nil else {
        throw Failure(description: "A list of objects is [Song], without other signs inside.")
      }
      return .value(.array(type))
    }
  }

  /// Returns a part of a dictionary.
  private func value(_ part: Part) throws(Failure) -> StoredType {
    if case .value(let type) = part, type.target == nil { return type }
    throw Failure(description: "A dictionary has values; objects can't be in it.")
  }

  private func stored(_ name: String) -> String { classes[name] ?? name }

  private func take(_ character: Character, _ rest: inout Substring) throws(Failure) {
    guard rest.first == character else {
      throw Failure(description: "\"\(character)\" is missing.")
    }
    rest.removeFirst()
  }
}

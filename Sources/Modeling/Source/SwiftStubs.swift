import StoredObjectsCore

extension SwiftTypes {
  /// Returns the declaration of a type that is not a class.
  func declaration(of type: StoredType) -> [String] {
    switch type {
    case .enumeration(let enumeration): declaration(of: enumeration, name(of: type))
    case .codable(let printed): codableStub(type, printed)
    case .custom(let printed): customStub(type, printed)
    default: []
    }
  }

  private func declaration(of enumeration: StoredEnumeration, _ name: String) -> [String] {
    let rawType = text(enumeration.rawType)
    let indexable = isIndexed(.enumeration(enumeration)) ? ", IndexableValue" : ""
    guard let swift = SwiftEnumeration(enumeration) else {
      return [
        "// An enumeration whose cases the store doesn't know.",
        "struct \(name): RawRepresentable, Hashable, DataBufferValue\(indexable) {",
        "  var rawValue: \(rawType)",
        "}",
      ]
    }
    let conformances =
      "DataBufferValue" + (swift.listsCases ? ", CaseIterable" : "") + indexable
    return ["enum \(name): \(rawType), \(conformances) {"]
      + swift.cases.map { "  case \(SwiftNames.member($0.name)) = \($0.literal)" }
      + formerCaseNames(enumeration) + ["}"]
  }

  private func formerCaseNames(_ enumeration: StoredEnumeration) -> [String] {
    guard !enumeration.formerNames.isEmpty else { return [] }
    let pairs = enumeration.formerNames.sorted { $0.key < $1.key }
      .map { "\(SwiftNames.literal($0.key)): \(SwiftNames.literal($0.value))" }
    return [
      "",
      "  static var formerCaseNames: [String: String] { [\(pairs.joined(separator: ", "))] }",
    ]
  }

  private func codableStub(_ type: StoredType, _ printed: String) -> [String] {
    let conformances = "Codable" + (isHashed(type) ? ", Hashable" : "")
    return [
      "// The store has \(comment(printed)) by its coding keys. Without its properties, saves lose them.",
      "struct \(name(of: type)): \(conformances) { /* its properties */ }",
    ]
  }

  private func customStub(_ type: StoredType, _ printed: String) -> [String] {
    let name = name(of: type)
    let conformances = "DataBufferValue" + (isHashed(type) ? ", Hashable" : "")
    // A `preconditionFailure`, because a stub that writes nothing would lose values.
    let message = SwiftNames.literal("\(printed) is a stub")
    return [
      "// Only its own code can read \(comment(printed)): put it in place of this stub.",
      "struct \(name): \(conformances) {",
      "  init() {}",
      "  init(from buffer: inout DataBuffer) throws(DataBufferError) {",
      "    throw DataBufferError(.invalidValue, at: buffer.offset, \(message))",
      "  }",
      "  func write(to buffer: inout DataBuffer) { preconditionFailure(\(message)) }",
    ] + storedType(name, printed) + ["}"]
  }

  private func storedType(_ name: String, _ printed: String) -> [String] {
    guard name != printed else { return [] }
    return ["  static var storedType: StoredType { .custom(\(SwiftNames.literal(printed))) }"]
  }

  /// Returns a name in a comment of one line.
  private func comment(_ name: String) -> String {
    SwiftNames.isIdentifier(name) ? name : SwiftNames.literal(name)
  }
}
